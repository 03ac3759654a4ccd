// What a pass gave: the runner's answer, read and checked (contract §2.11 "Invoke response", §7 "Invoke status
// codes"). Everything a runner can send ends up as one of these; `advance.ts` decides what follows.

import type { RunError, StepError } from '@perdure/protocol'
import { CheckpointSchema, StepErrorSchema } from '@perdure/protocol/schema'
import { Compile } from 'typebox/compile'
import { stepErrorOf } from '../model/step.ts'
import {
  isDeeperThan,
  JSON_DEPTH_MAX,
  type JsonText,
  objectMember,
  objectMembers,
} from '../text/json-text.ts'
import { type PassLines, readLines } from './log-lines.ts'
import type { PassOpcode } from './opcodes/opcode.ts'
import { readOpcodes } from './opcodes/read.ts'

export type Outcome = PassLines &
  (
    | { kind: 'returned'; data?: JsonText }
    | { kind: 'opcodes'; opcodes: PassOpcode[] }
    /** The run fails now. */
    | { kind: 'rejected'; error: RunError }
    /** The pass is repeated on the transport budget. */
    | { kind: 'transportFailed'; error: StepError }
  )

const checkpointSeq = Compile(CheckpointSchema.properties.seq)
const stepError = Compile(StepErrorSchema)

/** Levels around a payload: the body, and in a 206 the list and the opcode. */
const ENVELOPE_DEPTH = { 200: 1, 206: 3 }

/** Reads a runner's answer. `body` is within the response cap; nothing in it is trusted. */
export function readAnswer(status: number, body: string): Outcome {
  const parsed = parse(body)
  if (!parsed && (status === 200 || status === 206))
    return transportFailed('The runner answered with a body that is not a JSON object.')
  const lines = readLines(parsed, body)
  if (parsed && status === 200) return readReturned(body, lines)
  if (parsed && status === 206) return readReported(parsed, body, lines)
  const error = readError(parsed, body)
  if (status >= 400 && status < 500) {
    const message = error?.message ?? `The runner answered ${status}.`
    return { kind: 'rejected', error: { ...error, message, code: 'runner_rejected' }, ...lines }
  }
  if (status >= 500) {
    const message = `The runner answered ${status}${error ? `: ${error.message}` : ''}.`
    return { kind: 'transportFailed', error: { ...error, message }, ...lines }
  }
  return invalidResponse(`has status ${status}, which means nothing to the engine`, lines)
}

/** What a checkpoint brought: steps, or a reason to fail the run. */
export type Reported = Extract<Outcome, { kind: 'opcodes' | 'rejected' }>

/** Reads the payload of an `invoke.checkpoint` as the 206 that it stands for. Nothing in it is trusted. */
export function readCheckpoint(payload: string): { seq: number; reported: Reported } {
  const parsed = parse(payload)
  const lines = readLines(parsed, payload)
  const invalid = (problem: string) => ({ seq: 0, reported: invalidResponse(problem, lines, 'checkpoint') })
  if (!parsed) return invalid('is not a JSON object')
  const { seq } = parsed as { seq?: unknown }
  if (!checkpointSeq.Check(seq)) return invalid(`${NOT_ALLOWED}/seq must be an integer from 1 on`)
  return { seq, reported: readReported(parsed, payload, lines, 'checkpoint') }
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

const NOT_ALLOWED = 'is not what the protocol allows: '

function invalidResponse(
  problem: string,
  lines: PassLines,
  what = 'answer',
): Extract<Outcome, { kind: 'rejected' }> {
  const message = `The runner's ${what} ${problem}.`
  return { kind: 'rejected', error: { message, code: 'invalid_response' }, ...lines }
}

function readReturned(body: string, lines: PassLines): Outcome {
  if (isTooDeep(body, ENVELOPE_DEPTH[200])) return invalidResponse(TOO_DEEP, lines)
  const data = objectMember(body, 'data')
  return { kind: 'returned', ...(data === undefined ? {} : { data }), ...lines }
}

function readReported(parsed: object, text: JsonText, lines: PassLines, what = 'answer'): Reported {
  if (isTooDeep(text, ENVELOPE_DEPTH[206])) return invalidResponse(TOO_DEEP, lines, what)
  const opcodes = readOpcodes(parsed, text)
  if (typeof opcodes === 'string') return invalidResponse(NOT_ALLOWED + opcodes, lines, what)
  return { kind: 'opcodes', opcodes, ...lines }
}

const TOO_DEEP = `is nested deeper than ${JSON_DEPTH_MAX} levels`

/** Log lines may be as deep as they like: what of their fields is too deep is redacted. */
function isTooDeep(text: JsonText, envelopeDepth: number): boolean {
  const depthMax = JSON_DEPTH_MAX + envelopeDepth
  if (!isDeeperThan(text, depthMax)) return false
  return [...objectMembers(text)].some(
    ([name, value]) => name !== 'logs' && isDeeperThan(value, depthMax - 1),
  )
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
  if (stepError.Check(error)) return stepErrorOf(error)
  if (typeof error === 'string') return { message: error }
  const text = parsed && 'logs' in parsed ? withoutLogs(body) : body.trim()
  return SAYS_NOTHING.test(text) ? undefined : { message: text.slice(0, 500) }
}

const SAYS_NOTHING = /^(null|\[\s*\]|""|\{\s*("error"\s*:\s*(null|\{\s*\})\s*)?\})?$/

/** Lines are stored for themselves, redacted. */
function withoutLogs(body: JsonText): JsonText {
  const members = [...objectMembers(body)].filter(([name]) => name !== 'logs')
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}
