// Reads a runner's answer to an invoke (docs/wire-protocol.md#answer) or its checkpoint into an outcome. Nothing in it is
// trusted: whatever a runner sends becomes one of the kinds below. `advance` and `checkpoint` decide what follows.

import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_VALUE_CHARS_MAX,
  PROGRESS_BYTES_MAX,
  type RunError,
  type StepError,
} from '@perdure/protocol'
import { AttributeChangesSchema, CheckpointSchema, SentErrorSchema } from '@perdure/protocol/schema'
import { Compile } from 'typebox/compile'
import type { AttributeChanges } from '../../model/attributes.ts'
import { stepErrorOf } from '../../model/step.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText, objectMember, objectMembers } from '../../text/json-text.ts'
import type { PassOpcode } from '../opcodes/opcode.ts'
import { type PassLines, readLines } from './log-lines.ts'
import { type Negotiated, readLastOpcodes, readOpcodes } from './opcodes.ts'

/** The report of a handler about its run. */
export interface RunReport {
  attributes?: AttributeChanges
}

/** The handler's newest progress, as the text it came in. A failed pass may report it too. */
export interface ReportedProgress {
  progress?: JsonText
}

export type Outcome = PassLines &
  ReportedProgress &
  /** With `opcodes`: the last steps of the run, which are stored together with its end. */
  (
    | ({ kind: 'returned'; data?: JsonText; opcodes?: PassOpcode[] } & RunReport)
    | ({ kind: 'opcodes'; opcodes: PassOpcode[] } & RunReport)
    /** The run fails at once. The `stepName` of a runner's error is not checked yet. */
    | { kind: 'rejected'; error: RunError }
    /** The pass is repeated, within its budget of tries. */
    | { kind: 'transportFailed'; error: PassError }
  )

/** Why a pass failed: the handler threw, or the runner gave no answer that can be read. */
export type PassError = StepError & { code: 'handler_failed' | 'runner_unreachable' }

/** The codes of run errors that a runner may give in a 4xx. */
const CODES_OF_RUNNERS = ['step_failed', 'handler_failed', 'nondeterministic'] as const

const checkpointSeq = Compile(CheckpointSchema.properties.seq)
const attributeChanges = Compile(AttributeChangesSchema)
const stepError = Compile(SentErrorSchema)

const NOTHING: Negotiated = { stepPolicy: false, attributes: false, endWithSteps: false }

/** Levels of nesting around a payload: the body, and in a 206 the list and the opcode. */
const ENVELOPE_DEPTH = { 200: 1, 206: 3 }

/** Reads a runner's answer. `body` is within the maximum size of an answer. */
export function readAnswer(status: number, body: string, negotiated: Negotiated = NOTHING): Outcome {
  const parsed = parse(body)
  if (!parsed && (status === 200 || status === 206))
    return transportFailed('The runner answered with a body that is not a JSON object.')
  const lines = readExtras(parsed, body, negotiated)
  if (parsed && status === 200) return readReturned(parsed, body, { lines, negotiated })
  if (parsed && status === 206) return readReported(parsed, body, { lines, negotiated })
  const error = readError(parsed, body)
  if (status >= 400 && status < 500) {
    const message = error?.message ?? `The runner answered ${status}.`
    return { kind: 'rejected', error: { ...error, message, ...reasonOf(parsed) }, ...lines }
  }
  if (status >= 500) {
    const thrown = errorObject(parsed)
    if (thrown) return { kind: 'transportFailed', error: { ...stepErrorOf(thrown), code: 'handler_failed' }, ...lines }
    const message = sentence(`The runner answered ${status}${error ? `: ${error.message}` : ''}`)
    return { kind: 'transportFailed', error: { message, code: 'runner_unreachable' }, ...lines }
  }
  return invalidResponse(`has status ${status}, which means nothing to the engine`, lines)
}

/** The content of a checkpoint: steps, or a reason to fail the run. */
export type Reported = Extract<Outcome, { kind: 'opcodes' | 'rejected' }>

/** Reads the payload of an `invoke.checkpoint` like a 206. */
export function readCheckpoint(payload: string, negotiated: Negotiated = NOTHING): { seq: number; reported: Reported } {
  const parsed = parse(payload)
  const lines = readExtras(parsed, payload, negotiated)
  const invalid = (problem: string) => ({ seq: 0, reported: invalidResponse(problem, lines, 'checkpoint') })
  if (!parsed) return invalid('is not a JSON object')
  const { seq } = parsed as { seq?: unknown }
  if (!checkpointSeq.Check(seq)) return invalid(`${NOT_ALLOWED}/seq must be an integer from 1 on`)
  return { seq, reported: readReported(parsed, payload, { lines, negotiated, what: 'checkpoint' }) }
}

/** The outcome of a pass without a readable answer: a reset, a missed deadline, an unreadable body. */
export function transportFailed(message: string): Outcome {
  return { kind: 'transportFailed', error: { message, code: 'runner_unreachable' }, logs: [] }
}

/** The outcome of an answer over the maximum size. A repeat would be as large, so the run fails. */
export function responseTooLarge(bytesMax: number): Outcome {
  const message = `The runner's answer is larger than ${bytesMax} bytes.`
  return { kind: 'rejected', error: { message, code: 'response_too_large' }, logs: [] }
}

/** Ends the text with a full stop unless it has an end: messages of runners may be sentences. */
function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

const NOT_ALLOWED = 'is not what the protocol allows: '

function invalidResponse(problem: string, lines: Extras, what = 'answer'): Extract<Outcome, { kind: 'rejected' }> {
  const message = `The runner's ${what} ${problem}.`
  return { kind: 'rejected', error: { message, code: 'invalid_response' }, ...lines }
}

interface Reading {
  lines: Extras
  negotiated: Negotiated
}

function readReturned(parsed: object, body: string, { lines, negotiated }: Reading): Outcome {
  const { opcodes: sent = null } = parsed as { opcodes?: unknown }
  const hasSteps = negotiated.endWithSteps && sent !== null
  if (isTooDeep(body, ENVELOPE_DEPTH[200], hasSteps)) return invalidResponse(TOO_DEEP, lines)
  const opcodes = hasSteps ? readLastOpcodes(parsed, body, negotiated) : []
  if (typeof opcodes === 'string') return invalidResponse(NOT_ALLOWED + opcodes, lines)
  const report = readReport(parsed, lines, negotiated)
  if (typeof report === 'string') return invalidResponse(NOT_ALLOWED + report, lines)
  const data = objectMember(body, 'data')
  return { kind: 'returned', data, ...(opcodes.length > 0 ? { opcodes } : {}), ...report, ...lines }
}

function readReported(
  parsed: object,
  text: JsonText,
  { lines, negotiated, what = 'answer' }: Reading & { what?: string },
): Reported {
  if (isTooDeep(text, ENVELOPE_DEPTH[206])) return invalidResponse(TOO_DEEP, lines, what)
  const opcodes = readOpcodes(parsed, text, negotiated)
  if (typeof opcodes === 'string') return invalidResponse(NOT_ALLOWED + opcodes, lines, what)
  const report = readReport(parsed, lines, negotiated)
  if (typeof report === 'string') return invalidResponse(NOT_ALLOWED + report, lines, what)
  return { kind: 'opcodes', opcodes, ...report, ...lines }
}

const NO_REPORT: RunReport = {}

/** Reads the report of the message about the run. A text: what is wrong with it. */
function readReport(parsed: object, lines: Extras, negotiated: Negotiated): RunReport | string {
  const { attributes = null, progress = null } = parsed as { attributes?: unknown; progress?: unknown }
  if (!negotiated.attributes) return NO_REPORT
  if (progress !== null && lines.progress === undefined) return PROGRESS_FAULT
  if (attributes === null) return NO_REPORT
  if (attributeChanges.Check(attributes)) return { attributes }
  return attributesFault(attributes)
}

/** Longest part of a path in a message: a key may be as long as an answer. */
const PATH_CHARS_MAX = 100
const KEY_WANTED = `1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, _, . or -`
const VALUE_WANTED = `a string of up to ${ATTRIBUTE_VALUE_CHARS_MAX} characters, a finite number, a boolean, or null`

function attributesFault(attributes: unknown): string {
  const [first] = attributeChanges.Errors(attributes)
  const { instancePath = '', keyword, message = 'has the wrong shape' } = first ?? {}
  const path = `/attributes${instancePath}`.slice(0, PATH_CHARS_MAX)
  if (keyword === 'boolean') return `${path} must have a key of ${KEY_WANTED}`
  return `${path} ${instancePath === '' ? message : `must be ${VALUE_WANTED}`}`
}

/** The parts of a message that count whatever its status is. */
type Extras = PassLines & ReportedProgress

/** Reads the log lines and the progress of a message. A progress that is not allowed is left out; null is none. */
function readExtras(parsed: object | undefined, text: JsonText, negotiated: Negotiated): Extras {
  const extras: Extras = readLines(parsed, text)
  const { progress = null } = (parsed ?? {}) as { progress?: unknown }
  if (progress === null || !negotiated.attributes) return extras
  const value = objectMember(text, 'progress') as JsonText
  if (Buffer.byteLength(value) <= PROGRESS_BYTES_MAX && !isDeeperThan(value, JSON_DEPTH_MAX)) extras.progress = value
  return extras
}

const PROGRESS_FAULT = `/progress must not be larger than ${PROGRESS_BYTES_MAX} bytes or deeper than ${JSON_DEPTH_MAX} levels`

const TOO_DEEP = `is nested deeper than ${JSON_DEPTH_MAX} levels`

/**
 * Whether a payload is nested too deeply. The fields of log lines may be: what is too deep in them is redacted. With
 * `hasSteps` the opcodes of a 200 may be as deep as those of a 206.
 */
function isTooDeep(text: JsonText, envelopeDepth: number, hasSteps = false): boolean {
  const depthMax = JSON_DEPTH_MAX + envelopeDepth
  if (!isDeeperThan(text, depthMax)) return false
  const depthMaxOf = (name: string) =>
    hasSteps && name === 'opcodes' ? JSON_DEPTH_MAX + ENVELOPE_DEPTH[206] : depthMax
  return [...objectMembers(text)].some(([name, value]) => name !== 'logs' && isDeeperThan(value, depthMaxOf(name) - 1))
}

function parse(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The code of a 4xx, and the step that it names. */
function reasonOf(parsed: object | undefined): Pick<RunError, 'code' | 'stepName'> {
  const { code, stepName }: Record<string, unknown> = errorObject(parsed) ?? {}
  const known = CODES_OF_RUNNERS.find(one => one === code)
  if (known === undefined) return { code: 'runner_rejected' }
  return { code: known, ...(typeof stepName === 'string' ? { stepName } : {}) }
}

/** The `error` object of a body, if it is one, with all that the runner sent. */
function errorObject(parsed: object | undefined): (StepError & Record<string, unknown>) | undefined {
  const { error } = (parsed ?? {}) as { error?: unknown }
  return stepError.Check(error) ? (error as StepError & Record<string, unknown>) : undefined
}

/** The error in a 4xx or 5xx body. Proxies send such bodies too, so any text will do. */
function readError(parsed: object | undefined, body: string): Omit<StepError, 'code'> | undefined {
  const object = errorObject(parsed)
  if (object) return stepErrorOf(object)
  const { error } = (parsed ?? {}) as { error?: unknown }
  if (typeof error === 'string') return { message: error }
  const text = parsed && 'logs' in parsed ? withoutLogs(body) : body.trim()
  return EMPTY_ERROR.test(text) ? undefined : { message: text.slice(0, ERROR_TEXT_CHARS_MAX) }
}

/** Maximum length of an error that is the text of a body. */
const ERROR_TEXT_CHARS_MAX = 500
/** Bodies without an error in them. */
const EMPTY_ERROR = /^(null|\[\s*\]|""|\{\s*("error"\s*:\s*(null|\{\s*\})\s*)?\})?$/

/** The body without its log lines, which are stored apart, and redacted. */
function withoutLogs(body: JsonText): JsonText {
  const members = [...objectMembers(body)].filter(([name]) => name !== 'logs')
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}
