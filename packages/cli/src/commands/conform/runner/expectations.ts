// Expectations of an answer. Each throws a Fault that says in one line what was expected and what came.

import { isDeepStrictEqual } from 'node:util'
import { cutText, hashStepId } from '@perdure/protocol'
import { type Answer, Fault } from './runner.ts'

/** A step that a 206 must report: the name with its position, and fields of the opcode. */
export interface ExpectedStep {
  op: string
  /** With `:n` for repeats. */
  step: string
  fields?: Record<string, unknown>
}

/** The answer is a 206 with an opcode for each of these steps, in any order, and for no other. */
export function reports(answer: Answer, ...steps: readonly ExpectedStep[]): void {
  const opcodes = opcodesOf(answer, steps.length === 0 ? 'no new step' : names(steps.map(({ step }) => step)))
  for (const { op, step, fields = {} } of steps) {
    const name = step.replace(/:\d+$/, '')
    const opcode = opcodes.find(({ id }) => id === hashStepId(step))
    if (!opcode) throw new Fault(missing(step, name, opcodes))
    same(`op of step "${step}"`, opcode.op, op)
    same(`name of step "${step}"`, opcode.name, name)
    for (const [field, value] of Object.entries(fields)) same(`${field} of step "${step}"`, opcode[field], value)
  }
  if (opcodes.length > steps.length) {
    const wanted = new Set(steps.map(({ step }) => hashStepId(step)))
    const extra = opcodes.filter(({ id }) => !wanted.has(id as string))
    throw new Fault(
      `expected ${names(steps.map(({ step }) => step))} and nothing else, got ${names(extra.map(nameOf))} too`,
    )
  }
}

/** The step's opcode has an error with this message, and no data. */
export function reportsError(answer: Answer, step: string, message: string): Record<string, unknown> {
  reports(answer, { op: 'StepRun', step })
  const [opcode] = opcodesOf(answer, step) as [Record<string, unknown>]
  same(`error.message of step "${step}"`, (opcode.error as { message?: unknown } | undefined)?.message, message)
  return opcode
}

/** The answer is a 200 with this data. */
export function returns(answer: Answer, data: unknown): void {
  if (answer.status !== 200) throw new Fault(`expected a 200 with data ${text(data)}, got ${told(answer)}`)
  same('data', member(answer.body, 'data'), data)
}

/** The answer is a 4xx, which fails the run, or a 5xx, which has the pass repeated; its body has an error. */
export function fails(answer: Answer, status: '4xx' | '5xx', message?: string): void {
  if (`${Math.floor(answer.status / 100)}xx` !== status)
    throw new Fault(
      `expected a ${status}${message === undefined ? '' : ` with error.message "${message}"`}, got ${told(answer)}`,
    )
  if (message === undefined) return
  same('error.message', (member(answer.body, 'error') as { message?: unknown } | undefined)?.message, message)
}

/** The runner did not run the pass. */
export function isRefused(answer: Answer, why: string): void {
  if (answer.status < 400) throw new Fault(`expected a refusal, since ${why}; got ${told(answer)}`)
}

export function same(what: string, got: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(got, expected)) throw new Fault(`expected ${what} to be ${text(expected)}, got ${text(got)}`)
}

export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function opcodesOf(answer: Answer, expected: string): Record<string, unknown>[] {
  if (answer.status !== 206) throw new Fault(`expected a 206 with ${expected}, got ${told(answer)}`)
  const opcodes = member(answer.body, 'opcodes')
  if (!Array.isArray(opcodes)) throw new Fault(`expected the list "opcodes" in the body of a 206, got ${told(answer)}`)
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

const nameOf = ({ name }: Record<string, unknown>) => String(name)
const names = (list: readonly string[]) =>
  list.length === 0 ? 'no step' : list.map(name => `step "${name}"`).join(', ')

const TEXT_CHARS_MAX = 300

function text(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing'
  return cutText(json, TEXT_CHARS_MAX, '…')
}

function told({ status, body }: Answer): string {
  return `${status} ${body === undefined ? 'with a body that is not JSON' : text(body)}`
}
