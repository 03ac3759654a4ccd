// Builds the answer to an invoke, status and body, and keeps it within the response limit. Logs are dropped first; then
// results that do not fit together are split over several answers. See docs/wire-protocol.md#answer.

import {
  asRunError,
  cutText,
  type ENGINE_REFUSED,
  type InvokeContext,
  RESPONSE_BYTES_MAX,
  type RetryPolicy,
  type StepError,
} from '@perdure/protocol'
import type { RunEnd } from '../middleware/middleware.ts'
import { type EncodedOpcode, OPCODE_RULES } from '../pass/opcode.ts'
import type { Outcome } from '../pass/outcome.ts'
import type { LogBuffer } from '../run/log-buffer.ts'
import type { RunReport } from '../run/run-report.ts'
import { placed } from '../wire/error-place.ts'
import { failedStepOf, NondeterminismError, toStepError } from '../wire/errors.ts'
import { byteLength, exceeds } from '../wire/text-size.ts'
import type { Workflow } from '../workflow/workflow.ts'

/** The response to an invoke. `body` is JSON text. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Space that opcodes leave for logs: enough for the line that says how many log lines were dropped. */
const LOG_RESERVE_BYTES = 2048
/** Maximum length of a refusal, which may quote a long request. */
const REFUSAL_CHARS_MAX = 1024

/** The log lines and the report of a pass. */
interface Reports {
  readonly logs: LogBuffer
  readonly report: RunReport
}

/** Builds the answer of a pass from its outcome. `lastStep` is the step that the handler awaited last. */
export function answerOf(outcome: Outcome, { logs, report }: Reports, lastStep?: string): Answer {
  switch (outcome.kind) {
    case 'returned':
      return answerReturned(outcome, { logs, fields: report.take() })
    case 'opcodes':
      return answerOpcodes(outcome.opcodes, { logs, fields: report.take() })
    case 'threw':
      return answerThrown(outcome, { logs, report }, lastStep)
    case 'cancelled':
      // Nobody reads this answer, because the connection is closed. 499 is the customary status for that.
      return answerError(499, toStepError(new Error('The invoke was cancelled')), { logs, fields: '' })
  }
}

/** Builds the answer of a run's end, with its last steps. If they do not fit together, the next pass reports the end. */
function answerReturned(outcome: Extract<Outcome, { kind: 'returned' }>, rest: Rest): Answer {
  const { data, continues, opcodes = [] } = outcome
  const payload = data === undefined ? '' : `"data":${data}`
  const told = continues ? continues.given : outcome.given
  const given = told && `"given":${JSON.stringify(told)}`
  const next = [payload, given].filter(Boolean).join(',')
  const members = continues ? [`"continueAs":{${next}}`] : next === '' ? [] : [next]
  if (opcodes.length === 0) return withLogs(200, members.join(''), rest)
  members.push(`"opcodes":[${opcodes.map(({ text }) => text).join(',')}]`)
  const end = members.join(',')
  if (byteLength(end) + byteLength(rest.fields) > RESPONSE_BYTES_MAX - LOG_RESERVE_BYTES)
    return answerOpcodes(opcodes, rest)
  return withLogs(200, end, rest)
}

/**
 * Builds the answer to a request that is not run. It has no stack, which would show the location of the runner's code. With the
 * code `engine_refused` the run waits.
 */
export function answerRefusal(status: number, message: string, code?: typeof ENGINE_REFUSED): Answer {
  const error = { message: cutText(message, REFUSAL_CHARS_MAX), name: 'Error', code }
  return { status, body: `{"error":${JSON.stringify(error)},"logs":[]}` }
}

/** Builds the answer of a pass that threw. Its code says whether a failed step or the handler itself ended the pass. */
function answerThrown(
  { error, fatal }: Extract<Outcome, { kind: 'threw' }>,
  { logs, report }: Reports,
  lastStep: string | undefined,
): Answer {
  const stepName = failedStepOf(error)
  const ownCode = error instanceof NondeterminismError ? error.code : 'handler_failed'
  const where = lastStep === undefined ? 'the handler' : `the handler, after step "${lastStep}"`
  const thrown = stepName === undefined ? placed(toStepError(error), where) : toStepError(error)
  const reported = asRunError(thrown, stepName === undefined ? ownCode : 'step_failed', stepName)
  return answerError(fatal ? 400 : 500, reported, { logs, fields: report.takeProgress() })
}

/** Builds the answer with an error: `{error: {message, stack, name, code?, stepName?}, logs, progress?}`. */
function answerError(status: number, error: StepError, rest: Rest): Answer {
  return withLogs(status, `"error":${JSON.stringify(error)}`, rest)
}

/** The log lines, and the fields of the report, each after a comma. */
interface Rest {
  readonly logs: LogBuffer
  readonly fields: string
}

function answerOpcodes(opcodes: EncodedOpcode[], { logs, fields }: Rest): Answer {
  const fitting = selectFitting(opcodes, byteLength(fields))
  if (fitting.length < opcodes.length) {
    const deferred = opcodes.length - fitting.length
    const message = `${deferred} steps discovered together do not fit into one answer: the next pass continues with them`
    logs.append(logs.root, { level: 'warn', message })
  }
  return withLogs(206, `"opcodes":[${fitting.map(({ text }) => text).join(',')}]`, { logs, fields })
}

/**
 * Selects the opcodes that fit into one answer. The next pass discovers the others again. For a finished step that would repeat
 * its callback, so finished steps are selected first.
 */
function selectFitting(opcodes: EncodedOpcode[], reportBytes: number): EncodedOpcode[] {
  const budget = RESPONSE_BYTES_MAX - LOG_RESERVE_BYTES - reportBytes
  const chars = opcodes.reduce((sum, { text }) => sum + text.length + 1, 0)
  if (chars * 3 <= budget) return opcodes
  let bytes = 0
  const kept = new Set<EncodedOpcode>()
  for (const finished of [true, false]) {
    for (const opcode of opcodes) {
      if (OPCODE_RULES[opcode.op].hasResult !== finished) continue
      const size = byteLength(opcode.text) + 1
      if (bytes + size > budget) continue
      bytes += size
      kept.add(opcode)
    }
  }
  return opcodes.filter(opcode => kept.has(opcode))
}

function withLogs(status: number, outcome: string, { logs, fields }: Rest): Answer {
  const head = outcome === '' ? '{"logs":' : `{${outcome},"logs":`
  const tail = `${fields}}`
  const text = logs.encode(Number.POSITIVE_INFINITY)
  if (!exceeds(head + text + tail, RESPONSE_BYTES_MAX)) return { status, body: head + text + tail }
  return { status, body: head + logs.encode(RESPONSE_BYTES_MAX - byteLength(head) - byteLength(tail)) + tail }
}

/** Facts about the last pass, besides its outcome. */
interface LastPass {
  workflow: Pick<Workflow, 'registration'>
  ctx: InvokeContext
  /** The status of the answer: 206 if its steps have to be stored before the end. */
  status: number
  /** A checkpoint has stored steps: the engine then restarts its count of the handler's tries. */
  hasStored: boolean
}

/** Returns the end of the run, as far as its runner knows; undefined if another pass follows or may follow. */
export function runEndOf(outcome: Outcome, { workflow, ctx, status, hasStored }: LastPass): RunEnd | undefined {
  if (outcome.kind === 'returned')
    return status === 200 ? { kind: outcome.continues ? 'continued' : 'succeeded' } : undefined
  if (outcome.kind !== 'threw') return undefined
  const { error, fatal } = outcome
  const { retry, whenExhausted } = workflow.registration
  if (fatal && failedStepOf(error) !== undefined) {
    const mayPause = whenExhausted === 'pause' && !ctx.onFailure && !ctx.cleanup
    return mayPause ? undefined : { kind: 'failed', error }
  }
  const isLast = fatal || (ctx.lastTry && !hasStored) || isNamed(retry, error)
  return isLast ? { kind: 'failed', error } : undefined
}

/** Whether the policy declares the error that the handler threw final. */
function isNamed(retry: RetryPolicy | undefined, error: unknown): boolean {
  if (!retry?.nonRetriable) return false
  const { name, code, fields } = toStepError(error)
  return retry.nonRetriable.some(one => one === name || one === code || one === String(fields?.code))
}
