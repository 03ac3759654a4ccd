// The matching language of the cases (docs/conformance.md#what-is-expected). Each function throws a Fault that says in one line
// what was expected and what arrived. Called by play.ts.

import { isDeepStrictEqual } from 'node:util'
import { cutText, hashStepId } from '@perdure/protocol'
import type { Expected, ExpectedAnswer, ExpectedStep } from './cases.ts'
import { type Answer, Fault, member } from './runner.ts'

/** The answer of a pass, and everything that came before it. */
export interface Outcome {
  answer: Answer
  reports: readonly unknown[]
  /** The passes of the case up to this one. */
  answers: readonly Answer[]
}

/** One alternative is enough. If none is met, the message has the faults of the alternatives with the status of the answer. */
export function meets(outcome: Outcome, expected: Expected): void {
  const alternatives = 'oneOf' in expected ? expected.oneOf : [expected]
  const near = alternatives.filter(({ status }) => hasStatus(outcome.answer, status))
  const faults = new Set<string>()
  for (const one of near.length > 0 ? near : alternatives) {
    const fault = faultOf(() => meetsAll(outcome, one))
    if (fault === undefined) return
    faults.add(fault)
  }
  throw new Fault([...faults].join('; or '))
}

function meetsAll({ answer, answers, reports }: Outcome, expected: ExpectedAnswer): void {
  meetsReports(reports, expected)
  const { status, steps, errorMessage, sameBodyAsPass } = expected
  if (!hasStatus(answer, status)) throw new Fault(`expected ${described(expected)}, got ${told(answer)}`)
  if (steps) reportsSteps(answer, steps)
  for (const field of ['data', 'logs'] as const)
    if (field in expected) matches(field, member(answer.body, field), expected[field])
  if (errorMessage !== undefined) same('error.message', member(member(answer.body, 'error'), 'message'), errorMessage)
  if (sameBodyAsPass !== undefined) same('the second answer', answer.body, answers[sameBodyAsPass - 1]?.body)
}

/** The reports of the pass, in order. One that is not a repeat has a higher seq than the one before it. */
function meetsReports(got: readonly unknown[], { reports, moreReports = false }: ExpectedAnswer): void {
  if (!reports) return
  for (const [i, expected] of reports.entries()) {
    const [report, before] = [got[i], got[i - 1]]
    if (report === undefined) throw new Fault(`expected one more report than ${text(got)}`)
    const seq = member(report, 'seq')
    if (expected === 'again') {
      same('seq of the repeated report', seq, member(before, 'seq'))
      same('opcodes of the repeated report', member(report, 'opcodes'), member(before, 'opcodes'))
      continue
    }
    if (!Number.isInteger(seq) || Number(seq) <= Number(member(before, 'seq') ?? 0))
      throw new Fault(`expected the seqs of reports to rise from 1, got ${text(got.map(seqOf))}`)
    if (expected.steps) reportsSteps({ status: 206, body: report }, expected.steps)
  }
  if (got.length > reports.length && !moreReports)
    throw new Fault(`expected no report after ${text(got[reports.length - 1])}, got ${text(got[reports.length])}`)
}

/** Checks that there is an opcode for each of these steps, in any order, and for no other. */
function reportsSteps(answer: Answer, steps: readonly ExpectedStep[]): void {
  const opcodes = opcodesOf(answer, steps)
  for (const { op, step, ...fields } of steps) {
    const name = step.replace(/:\d+$/, '')
    const opcode = opcodes.find(({ id }) => id === hashStepId(step))
    if (!opcode) throw new Fault(missing(step, name, opcodes))
    for (const [field, value] of Object.entries({ op, name, ...fields }))
      matches(`${field} of step "${step}"`, opcode[field], value)
  }
  if (opcodes.length === steps.length) return
  const wanted = new Set(steps.map(({ step }) => hashStepId(step)))
  const extra = opcodes.filter(({ id }) => !wanted.has(String(id)))
  throw new Fault(`expected ${stepNames(steps)} and nothing else, got ${names(extra.map(nameOf))} too`)
}

function opcodesOf(answer: Answer, steps: readonly ExpectedStep[]): Record<string, unknown>[] {
  // A 200 does not need a list of steps.
  const opcodes = member(answer.body, 'opcodes') ?? (answer.status === 200 ? [] : undefined)
  if (!Array.isArray(opcodes))
    throw new Fault(`expected the list "opcodes" with ${stepNames(steps)}, got ${told(answer)}`)
  for (const opcode of opcodes)
    if (typeof opcode !== 'object' || opcode === null)
      throw new Fault(`expected each opcode to be an object, got ${text(opcode)}`)
  return opcodes
}

function missing(step: string, name: string, opcodes: readonly Record<string, unknown>[]): string {
  const byName = opcodes.find(opcode => opcode.name === name)
  if (byName)
    return `expected the id of step "${step}" to be ${hashStepId(step)} (SHA-256 of "${step}"), got ${text(byName.id)}`
  return `expected step "${step}" in the 206, got ${names(opcodes.map(nameOf))}`
}

/** An object whose only member begins with `$` is an operator. Any other matcher must be equal to the value. */
export function matches(what: string, got: unknown, matcher: unknown, options: Record<string, unknown> = {}): void {
  const [[operator, operand] = [], ...others] = Object.entries(matcher ?? {})
  const isOperator = typeof matcher === 'object' && others.length === 0 && operator?.startsWith('$')
  const fits = (value: unknown, one: unknown) => faultOf(() => matches(what, value, one, options)) === undefined
  if (!isOperator) same(what, got, matcher)
  else if (operator === '$absent') same(what, got, undefined)
  else if (operator === '$option') same(what, got, options[String(operand)])
  else if (operator === '$has') {
    for (const [name, value] of Object.entries(operand as object))
      matches(`${name} of ${what}`, member(got, name), value, options)
  } else if (operator === '$oneOf') {
    if (!(operand as unknown[]).some(one => fits(got, one)))
      throw new Fault(`expected ${what} to be one of ${text(operand)}, got ${text(got)}`)
  } else if (operator === '$contains') {
    if (!Array.isArray(got) || !got.some(value => fits(value, operand)))
      throw new Fault(`expected ${text(operand)} in ${what}, got ${text(got)}`)
  } else throw new Error(`there is no operator ${operator}`)
}

export function same(what: string, got: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(got, expected)) throw new Fault(`expected ${what} to be ${text(expected)}, got ${text(got)}`)
}

/** The message of the Fault that the check throws. */
export function faultOf(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

function hasStatus({ status }: Answer, expected: ExpectedAnswer['status'] = status): boolean {
  return [expected].flat().some(one => one === status || one === `${Math.floor(status / 100)}xx`)
}

function described({ status, steps, data, errorMessage }: ExpectedAnswer): string {
  const answer = `a ${[status].flat().join(' or ')}`
  if (steps && data === undefined) return `${answer} with ${stepNames(steps, 'no new step')}`
  if (data !== undefined) return `${answer} with data ${text(data)}`
  return errorMessage === undefined ? answer : `${answer} with error.message "${errorMessage}"`
}

const nameOf = ({ name }: Record<string, unknown>) => String(name)
const seqOf = (report: unknown) => member(report, 'seq')
const names = (list: readonly string[], none = 'no step') =>
  list.length === 0 ? none : list.map(name => `step "${name}"`).join(', ')
const stepNames = (steps: readonly ExpectedStep[], none?: string) =>
  names(
    steps.map(({ step }) => step),
    none,
  )

const TEXT_CHARS_MAX = 300

function text(value: unknown): string {
  return cutText(JSON.stringify(value) ?? 'nothing', TEXT_CHARS_MAX, '…')
}

function told({ status, body }: Answer): string {
  return `${status} ${body === undefined ? 'with a body that is not JSON' : text(body)}`
}
