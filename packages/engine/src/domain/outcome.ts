// What a pass gave: the runner's answer, read and checked (contract §2.11 "Invoke response", §7 "Invoke status
// codes"). Everything a runner can send ends up as one of these; `advance.ts` decides what follows.

import type { Opcode, RunError, RunnerLogLine, StepError } from '@perdure/protocol'
import {
  CheckpointSchema,
  InvokeOpcodesSchema,
  InvokeReturnedSchema,
  RunnerLogLineSchema,
  StepErrorSchema,
} from '@perdure/protocol/schema'
import { Compile } from 'typebox/compile'
import { arrayElements, isDeeperThan, JSON_DEPTH_MAX, type JsonText, objectMember } from './json-text.ts'

/** An opcode whose payload is kept as the text it came in. */
export type PassOpcode = DistributiveOmit<Opcode, 'data' | 'childData'> & { data?: JsonText }
type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never
export type PassOpcodeOf<Op extends Opcode['op']> = Extract<PassOpcode, { op: Op }>

export type Outcome =
  | { kind: 'returned'; data?: JsonText; logs: RunnerLogLine[] }
  | { kind: 'opcodes'; opcodes: PassOpcode[]; logs: RunnerLogLine[] }
  /** The run fails now. */
  | { kind: 'rejected'; error: RunError; logs: RunnerLogLine[] }
  /** The pass is repeated on the transport budget. */
  | { kind: 'transportFailed'; error: StepError; logs: RunnerLogLine[] }

const returned = Compile(InvokeReturnedSchema)
const opcodes = Compile(InvokeOpcodesSchema)
const checkpoint = Compile(CheckpointSchema)
const logLine = Compile(RunnerLogLineSchema)
const stepError = Compile(StepErrorSchema)

/** Levels around a payload: the body, and in a 206 the list and the opcode. */
const ENVELOPE_DEPTH = { 200: 1, 206: 3 }

/** Reads a runner's answer. `body` is within the response cap; nothing in it is trusted. */
export function readAnswer(status: number, body: string): Outcome {
  const parsed = parse(body)
  if (status === 200 || status === 206) {
    if (!parsed) return transportFailed('The runner answered with a body that is not a JSON object.')
    if (isDeeperThan(body, JSON_DEPTH_MAX + ENVELOPE_DEPTH[status]))
      return invalidResponse(`is nested deeper than ${JSON_DEPTH_MAX} levels`)
    return status === 200 ? readReturned(parsed, body) : readOpcodes(parsed, body)
  }
  const error = readError(parsed, body)
  const logs = readLogs(parsed)
  if (status >= 400 && status < 500) {
    const message = error?.message ?? `The runner answered ${status}.`
    return { kind: 'rejected', error: { ...error, message, code: 'runner_rejected' }, logs }
  }
  if (status >= 500) {
    return {
      kind: 'transportFailed',
      error: { ...error, message: `The runner answered ${status}${error ? `: ${error.message}` : ''}.` },
      logs,
    }
  }
  return invalidResponse(`has status ${status}, which means nothing to the engine`)
}

/** What a checkpoint brought: steps, or a reason to fail the run. */
export type Reported = Extract<Outcome, { kind: 'opcodes' | 'rejected' }>

/** Reads the payload of an `invoke.checkpoint` as the 206 that it stands for. Nothing in it is trusted. */
export function readCheckpoint(payload: string): { seq: number; reported: Reported } {
  const invalid = (problem: string) => ({ seq: 0, reported: invalidResponse(problem, 'checkpoint') })
  const parsed = parse(payload)
  if (!parsed) return invalid('is not a JSON object')
  if (isDeeperThan(payload, JSON_DEPTH_MAX + ENVELOPE_DEPTH[206]))
    return invalid(`is nested deeper than ${JSON_DEPTH_MAX} levels`)
  if (!checkpoint.Check(parsed)) return invalid(firstProblem(checkpoint.Errors(parsed)))
  return { seq: parsed.seq, reported: withRawOpcodes(parsed, payload) }
}

/** A pass that gave no readable answer: reset, deadline, unreadable body. */
export function transportFailed(message: string): Outcome {
  return { kind: 'transportFailed', error: { message }, logs: [] }
}

/** An answer over the response cap: a repeat would be as large, so the run fails. */
export function responseTooLarge(bytesMax: number): Outcome {
  const message = `The runner's answer is larger than ${bytesMax} bytes.`
  return { kind: 'rejected', error: { message, code: 'response_too_large' }, logs: [] }
}

function invalidResponse(problem: string, what = 'answer'): Extract<Outcome, { kind: 'rejected' }> {
  return {
    kind: 'rejected',
    error: { message: `The runner's ${what} ${problem}.`, code: 'invalid_response' },
    logs: [],
  }
}

function readReturned(parsed: object, body: string): Outcome {
  if (!returned.Check(parsed)) return invalidResponse(firstProblem(returned.Errors(parsed)))
  const data = objectMember(body, 'data')
  return { kind: 'returned', ...(data === undefined ? {} : { data }), logs: parsed.logs ?? [] }
}

function readOpcodes(parsed: object, body: string): Outcome {
  if (!opcodes.Check(parsed)) return invalidResponse(firstProblem(opcodes.Errors(parsed)))
  return withRawOpcodes(parsed, body)
}

function withRawOpcodes(
  parsed: { opcodes: Opcode[]; logs?: RunnerLogLine[] },
  text: JsonText,
): Extract<Outcome, { kind: 'opcodes' }> {
  const texts = arrayElements(objectMember(text, 'opcodes') as JsonText)
  const read = parsed.opcodes.map((opcode, i) => withRawData(opcode, texts[i] as JsonText))
  return { kind: 'opcodes', opcodes: read, logs: parsed.logs ?? [] }
}

function withRawData(opcode: Opcode, text: JsonText): PassOpcode {
  const data = objectMember(text, opcode.op === 'RunWorkflow' ? 'childData' : 'data')
  // Whatever was parsed as `data` must not pass for a text, also where an opcode has no such field. The opcode is
  // ours to change: it was parsed a moment ago, and a copy of each costs a tenth of reading a large fan-out.
  const read = opcode as PassOpcode
  if (data !== undefined || 'data' in opcode) read.data = data
  return read
}

function parse(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The error of a 4xx or 5xx body, read leniently: such bodies come from proxies too. */
function readError(parsed: object | undefined, body: string): StepError | undefined {
  const error = (parsed as { error?: unknown } | undefined)?.error
  if (stepError.Check(error)) return pickError(error)
  if (typeof error === 'string') return { message: error }
  const text = body.trim().slice(0, 500)
  return text === '' ? undefined : { message: text }
}

/** Just the fields of an error the interface knows. */
export function pickError(error: StepError): StepError {
  const { message, stack, name } = error
  return { message, ...(stack === undefined ? {} : { stack }), ...(name === undefined ? {} : { name }) }
}

function readLogs(parsed: object | undefined): RunnerLogLine[] {
  const logs = (parsed as { logs?: unknown } | undefined)?.logs
  return Array.isArray(logs) ? logs.filter((line): line is RunnerLogLine => logLine.Check(line)) : []
}

function firstProblem(errors: { instancePath: string; message: string }[]): string {
  const first = errors.find(error => !error.message.includes('anyOf')) ?? errors[0]
  return `is not what the protocol allows: ${first ? `${first.instancePath || 'body'} ${first.message}` : 'wrong shape'}`
}
