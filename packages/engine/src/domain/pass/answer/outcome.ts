// Reads a runner's answer to an invoke (docs/wire-protocol.md#answer) or its checkpoint into an outcome. Nothing in it is
// trusted: every answer becomes one of the kinds below. `advance` and `checkpoint` decide the consequences.

import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_VALUE_CHARS_MAX,
  asRunError,
  cutText,
  ENGINE_REFUSED,
  foreignAnswer,
  PROGRESS_BYTES_MAX,
  RUNNER_HEADER,
  type RunError,
  type StepError,
} from '@perdure/protocol'
import { AttributeChangesSchema, CheckpointSchema, GivenSchema, SentErrorSchema } from '@perdure/protocol/schema'
import type { AttributeChanges } from '../../model/attributes.ts'
import { isConnectUrl } from '../../model/connect-url.ts'
import { isDeeperThan, JSON_DEPTH_MAX, type JsonText, objectMember, objectMembers } from '../../text/json-text.ts'
import { compiledOnce } from '../../text/schema/compiled-schema.ts'
import type { Given, PassOpcode } from '../opcodes/opcode.ts'
import { isObject, type SentError, stepErrorOf } from '../opcodes/step-error.ts'
import { type PassLines, readLines } from './log-lines.ts'
import { type Negotiated, readLastOpcodes, readOpcodes } from './opcodes.ts'
import { type ReportedRunning, readRunning } from './running.ts'
import type { Loss } from './suspicion.ts'

/** The report of a handler about its run. */
export interface RunReport {
  attributes?: AttributeChanges
}

/** The handler's newest progress, as the text in which it came. A failed pass may report it too. */
export interface ReportedProgress {
  progress?: JsonText
}

/** The run continues as a new one with this input. */
export interface NextInput {
  data?: JsonText
  /** The events that the handler was given; absent: all events of its memo. */
  given?: Given
}

export type Outcome = PassLines &
  ReportedProgress &
  /** With `opcodes`: the last steps of the run, which are stored together with its end. */
  (
    | ({ kind: 'returned'; data?: JsonText; given?: Given; continueAs?: NextInput; opcodes?: PassOpcode[] } & RunReport)
    | ({ kind: 'opcodes'; opcodes: PassOpcode[] } & RunReport)
    /** The run fails at once. The `stepName` of a runner's error is not checked yet. */
    | { kind: 'rejected'; error: RunError }
    /** The pass is repeated, within its budget of tries. `loss`: its connection was lost. */
    | { kind: 'transportFailed'; error: PassError; loss?: Loss }
  )

/** Why a pass failed: the handler threw, or the runner gave no readable answer. */
export type PassError = StepError & { code: 'handler_failed' | 'runner_unreachable' }

/** The codes of run errors that a runner may send in a 4xx. */
const CODES_OF_RUNNERS = ['step_failed', 'handler_failed', 'nondeterministic'] as const

const checkpointSeq = compiledOnce(CheckpointSchema.properties.seq)
const attributeChanges = compiledOnce(AttributeChangesSchema)
const stepError = compiledOnce(SentErrorSchema)

const NOTHING: Negotiated = {
  stepPolicy: false,
  cleanup: false,
  budgets: false,
  waitOrder: false,
  attributes: false,
  continueAs: false,
  endWithSteps: false,
}

/** Levels of nesting around a payload: the body, and in a 206 also the list and the opcode. */
const ENVELOPE_DEPTH = { 200: 1, 206: 3 }

/** Reads a runner's answer. `body` is within the maximum size of an answer. */
export function readAnswer(
  status: number,
  body: string,
  { negotiated = NOTHING, url }: { negotiated?: Negotiated; url?: string } = {},
): Outcome {
  const parsed = parse(body)
  if (!parsed && (status === 200 || status === 206))
    return transportFailed(`${answered({ url, status, body })} That is not a JSON object.`)
  const lines = readExtras(parsed, body, negotiated)
  if (parsed && status === 200) return readReturned(parsed, body, { lines, negotiated })
  if (parsed && status === 206) return readReported(parsed, body, { lines, negotiated })
  const error = readError(parsed)
  const foreign = () => answered({ url, status, body: parsed && 'logs' in parsed ? withoutLogs(body) : body })
  if (status >= 400 && status < 500) {
    const message = error?.message ?? foreign()
    const reason = reasonOf(parsed)
    return { kind: 'rejected', error: asRunError({ ...error, message }, reason.code, reason.stepName), ...lines }
  }
  if (status >= 500) {
    const thrown = errorObject(parsed)
    if (thrown) return { kind: 'transportFailed', error: asRunError(stepErrorOf(thrown), 'handler_failed'), ...lines }
    const message = error ? sentence(`The runner answered ${status}: ${error.message}`) : foreign()
    return { kind: 'transportFailed', error: { message, code: 'runner_unreachable' }, ...lines }
  }
  return { kind: 'rejected', error: { message: foreign(), code: 'invalid_response' }, ...lines }
}

/** The outcome of an answer without its runner's mark: a server in between gave it, so it says nothing about the run. */
export function readForeignAnswer(status: number, body: string, url: string): Outcome {
  return transportFailed(`${answered({ url, status, body })} ${NOT_THE_RUNNER}`)
}

const NOT_THE_RUNNER = `A server in front of the runner answered instead of it, or removes its header ${RUNNER_HEADER}.`

/** Why the runner refused this engine; undefined for every other answer. A runner that refuses runs nothing. */
export function refusalOfEngine(status: number, body: string): string | undefined {
  if (status < 400 || !body.includes(ENGINE_REFUSED)) return undefined
  const error = errorObject(parse(body))
  return error?.code === ENGINE_REFUSED ? stepErrorOf(error).message : undefined
}

/** The content of a checkpoint: steps, or a reason to fail the run. */
export type Reported = Extract<Outcome, { kind: 'opcodes' | 'rejected' }>

/** A checkpoint of a runner. */
export interface SentCheckpoint {
  seq: number
  reported: Reported
  /** All steps that are running now, if the message lists them. */
  running?: ReportedRunning[] | undefined
}

/** Reads the payload of an `invoke.checkpoint` like a 206. */
export function readCheckpoint(payload: string, negotiated: Negotiated = NOTHING): SentCheckpoint {
  const parsed = parse(payload)
  const lines = readExtras(parsed, payload, negotiated)
  const invalid = (problem: string) => ({ seq: 0, reported: invalidResponse(problem, lines, 'checkpoint') })
  if (!parsed) return invalid('is not a JSON object')
  const { seq } = parsed as { seq?: unknown }
  if (!checkpointSeq().Check(seq)) return invalid(`${NOT_ALLOWED}/seq must be an integer of at least 1`)
  const reported = readReported(parsed, payload, { lines, negotiated, what: 'checkpoint' })
  return { seq, reported, running: readRunning(parsed) }
}

/** The outcome of a pass without a readable answer: a reset, a missed deadline, an unreadable body. */
export function transportFailed(message: string): Outcome {
  return { kind: 'transportFailed', error: { message, code: 'runner_unreachable' }, logs: [] }
}

/** The outcome of an answer over the maximum size. The answer to a repeat would be as large, so the run fails. */
export function responseTooLarge(bytesMax: number): Outcome {
  const message = `The runner's answer is larger than ${bytesMax} bytes.`
  return { kind: 'rejected', error: { message, code: 'response_too_large' }, logs: [] }
}

/** Ends the text with a full stop unless it has one: messages of runners may be sentences. */
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
  const { opcodes: sent = null, continueAs: next = null, given } = parsed as ReturnedBody
  const hasSteps = negotiated.endWithSteps && sent !== null
  const continues = negotiated.continueAs && next !== null
  if (continues && !isObject(next)) return invalidResponse(`${NOT_ALLOWED}/continueAs must be an object`, lines)
  const deeper = { ...(hasSteps && { opcodes: 2 }), ...(continues && { continueAs: 1 }) }
  if (isTooDeep(body, ENVELOPE_DEPTH[200], deeper)) return invalidResponse(TOO_DEEP, lines)
  const opcodes = hasSteps ? readLastOpcodes(parsed, body, negotiated) : []
  if (typeof opcodes === 'string') return invalidResponse(NOT_ALLOWED + opcodes, lines)
  const report = readReport(parsed, lines, negotiated)
  if (typeof report === 'string') return invalidResponse(NOT_ALLOWED + report, lines)
  const end = continues ? { continueAs: readNextInput(body, next as object) } : readResult(body, given)
  return { kind: 'returned', ...end, ...(opcodes.length > 0 ? { opcodes } : {}), ...report, ...lines }
}

interface ReturnedBody {
  opcodes?: unknown
  continueAs?: unknown
  given?: unknown
}

function readResult(body: JsonText, given: unknown): Pick<Extract<Outcome, { kind: 'returned' }>, 'data' | 'given'> {
  const data = objectMember(body, 'data')
  return {
    ...(data === undefined ? {} : { data }),
    ...(given !== undefined && isGiven().Check(given) ? { given } : {}),
  }
}

function readNextInput(body: JsonText, { given }: { given?: unknown }): NextInput {
  const data = objectMember(objectMember(body, 'continueAs') as JsonText, 'data')
  return { ...(data === undefined ? {} : { data }), ...(isGiven().Check(given) ? { given } : {}) }
}

const isGiven = compiledOnce(GivenSchema)

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

/** Reads the run report in the message. Returns a text if there is a problem with it. */
function readReport(parsed: object, lines: Extras, negotiated: Negotiated): RunReport | string {
  const { attributes = null, progress = null } = parsed as { attributes?: unknown; progress?: unknown }
  if (!negotiated.attributes) return NO_REPORT
  if (progress !== null && lines.progress === undefined) return PROGRESS_FAULT
  if (attributes === null) return NO_REPORT
  if (attributeChanges().Check(attributes)) return { attributes }
  return attributesFault(attributes)
}

/** Maximum length of a part of a path in a message: a key may be as long as an answer. */
const PATH_CHARS_MAX = 100
const KEY_WANTED = `1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, _, . or -`
const VALUE_WANTED = `a string of up to ${ATTRIBUTE_VALUE_CHARS_MAX} characters, a number up to 2^53 - 1 (a larger one as a string), a boolean, or null`

function attributesFault(attributes: unknown): string {
  const [first] = attributeChanges().Errors(attributes)
  const { instancePath = '', keyword, message = 'has the wrong shape' } = first ?? {}
  const path = cutText(`/attributes${instancePath}`, PATH_CHARS_MAX)
  if (keyword === 'boolean') return `${path} must have a key of ${KEY_WANTED}`
  return `${path} ${instancePath === '' ? message : `must be ${VALUE_WANTED}`}`
}

/** The parts of a message that count whatever its status is. */
type Extras = PassLines & ReportedProgress

/** Reads the log lines and the progress of a message. A disallowed progress is left out, and null means none. */
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
 * Whether a payload is nested too deeply. The fields of log lines may be: their deepest parts are redacted. `deeper` names
 * members whose payloads have more levels around them.
 */
function isTooDeep(text: JsonText, envelopeDepth: number, deeper: Readonly<Record<string, number>> = {}): boolean {
  const depthMax = JSON_DEPTH_MAX + envelopeDepth
  if (!isDeeperThan(text, depthMax)) return false
  const depthMaxOf = (name: string) => depthMax + (deeper[name] ?? 0)
  return [...objectMembers(text)].some(([name, value]) => name !== 'logs' && isDeeperThan(value, depthMaxOf(name) - 1))
}

function parse(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The code of a 4xx, and the step that it names. */
function reasonOf(parsed: object | undefined): { code: NonNullable<RunError['code']>; stepName?: string } {
  const { code, stepName }: Record<string, unknown> = errorObject(parsed) ?? {}
  const known = CODES_OF_RUNNERS.find(one => one === code)
  if (known === undefined) return { code: 'runner_rejected' }
  return { code: known, ...(typeof stepName === 'string' ? { stepName } : {}) }
}

/** The `error` object of a body, if it is an object, with everything that the runner sent. */
function errorObject(parsed: object | undefined): (SentError & Record<string, unknown>) | undefined {
  const { error } = (parsed ?? {}) as { error?: unknown }
  return stepError().Check(error) ? (error as SentError & Record<string, unknown>) : undefined
}

/** The error in a 4xx or 5xx body of a runner. */
function readError(parsed: object | undefined): StepError | undefined {
  const object = errorObject(parsed)
  if (object) return stepErrorOf(object)
  const { error } = (parsed ?? {}) as { error?: unknown }
  return typeof error === 'string' ? { message: error } : undefined
}

/** The remedies for statuses that no runner answers with. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: ' A server in front of the runner refuses the engine.',
  403: ' A server in front of the runner refuses the engine.',
  404: ' Check the path of the url that the runner registers.',
  405: ' Check the path of the url that the runner registers.',
  502: ' Is the runner behind this proxy running?',
  503: ' Is the runner behind this proxy running?',
  504: ' Is the runner behind this proxy running?',
}
const REDIRECTED = ' The engine does not follow redirects: register the final address.'

/** Describes an answer that has no error of a runner: from a proxy, or from another server at the runner's address. */
function answered({ url, status, body }: { url: string | undefined; status: number; body: string }): string {
  const text = EMPTY_ERROR.test(body.trim()) ? '' : body
  // A Connect runner has no address.
  if (url === undefined || isConnectUrl(url)) return foreignAnswer({ url: 'The runner', status, body: text })
  const remedy = status >= 300 && status < 400 ? REDIRECTED : (REMEDIES[status] ?? '')
  return `${foreignAnswer({ url, status, body: text })}${remedy}`
}

/** Bodies without any error text. */
const EMPTY_ERROR = /^(null|\[\s*\]|""|\{\s*("error"\s*:\s*(null|\{\s*\})\s*)?\})?$/

/** The body, redacted and without its log lines, which are stored separately. */
function withoutLogs(body: JsonText): JsonText {
  const members = [...objectMembers(body)].filter(([name]) => name !== 'logs')
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}
