// `createHandler()`: answers invokes without a transport, from the raw request to status and body. Every serve adapter
// and `connect()` call it.

import { Buffer } from 'node:buffer'
import { checkMiddleware, type OptionNames, refuseUnknownOptions } from '@perdure/client/internal'
import {
  ENGINE_REFUSED,
  type InvokeRequest,
  keyFingerprint,
  NAME_CHARS_MAX,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  type RegisterReply,
  RUNNER_HEADER,
  RUNNER_MARK,
  SIGNATURE_HEADER,
  type StepLimits,
  type WorkflowRegistration,
} from '@perdure/protocol'
import { logOutsideTo } from '../ambient/log.ts'
import { checkEnvironment, readAllowUnsigned, signingKeysOf } from '../engine/environment.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { type Answer, answerRefusal } from '../replay/answer.ts'
import { type InvokeOptions, invoke } from '../replay/invoke.ts'
import type { Cancellation } from '../run/cancellation.ts'
import { type LevelLogger, type RunnerLog, runnerLogOf } from '../run/runner-log.ts'
import { newMemory, type RunnerMemory } from '../run/runner-memory.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import { WITHOUT_HANDLER } from '../workflow/create-workflow.ts'
import type { AnyWorkflow, Workflow } from '../workflow/workflow.ts'
import { HttpReports, type ReportsTo } from './http-reports.ts'
import { SignatureCheck } from './signature-check.ts'
import { UnsignedDoor } from './unsigned-door.ts'

/** The app and the workflows that a runner serves, and the keys that its engine signs with. */
export interface HandlerOptions {
  /** Name of the app. */
  app: string
  workflows: readonly AnyWorkflow[]
  /**
   * Key (during a rotation: keys) that the engine signs invokes with. Default: `ENGINE_SIGNING_KEY`, a list separated
   * by commas or spaces. Without a key, requests from this machine are accepted, except those of web pages.
   */
  signingKey?: string | readonly string[]
  /**
   * Serve beyond this machine without a signing key: anybody who can connect may then run every step. Default:
   * `ENGINE_ALLOW_UNSIGNED`, otherwise false.
   */
  allowUnsigned?: boolean
  /**
   * Limits that steps of the app share, by name: in any `period`, at most `limit` of the steps that name it start, across all
   * workflows, engines and runners of the app. A step names its limit in its option `limit`.
   */
  limits?: StepLimits
  /** Middleware around the passes and steps of every workflow, outside the workflow's own. The first is the outermost. */
  middleware?: readonly Middleware[]
  /**
   * Receives errors that handlers throw outside their steps, the state of the runner, and the lines that `log` writes outside of
   * runs. Default: the console.
   */
  log?: RunnerLog | LevelLogger
}

/** A `Headers` object, or a record with lower-case names such as Node's. */
export type HeaderSource = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>

/** One `POST /invoke`, as the transport received it. */
export interface HandlerRequest {
  headers: HeaderSource
  /** The unparsed body, because the signature covers its bytes. */
  rawBody: string | Uint8Array
  /** The host that the caller named, if the transport does not pass it as a header. */
  host?: string
  /** The address of the caller, if the transport knows it. */
  remoteAddress?: string | undefined
  /** Cancelled by the transport when the connection of the caller breaks. */
  cancellation?: Cancellation
}

/** The response. The transport sends it unchanged. No other response has the same `headers` object. */
export interface HandlerResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Answers invokes of the workflows of one app. */
export interface Handler {
  readonly app: string
  /** The workflows as they are registered. */
  readonly workflows: WorkflowRegistration[]
  /** Sentences about the workflows, for the runner's log. */
  readonly warnings: readonly string[]
  /** The limits that steps of the app share, as they are registered. */
  readonly limits: StepLimits | undefined
  /** One-way fingerprints of the signing keys, in their order. */
  readonly keyFingerprints: readonly string[]
  /**
   * Notes that the engine reaches the runner at `url`, as {@link startRegistration} reports. Throws a ConfigError if
   * the URL is not on this machine, there is no signing key, and this is not allowed (`allowUnsigned`).
   */
  servedAt(url: string, runnerId?: string): void
  /**
   * Notes that the engine has acknowledged a registration of the runner, as {@link startRegistration} reports.
   * `reportsTo`: the engine, if passes may report their steps to it.
   */
  acknowledged(reply: RegisterReply, reportsTo?: ReportsTo): void
  /** Notes that the runner's server listens on this host name or address. Throws like `servedAt`. */
  listensOn(host: string): void
  /**
   * Notes that the runner is about to close: passes now end with their next durable step, and another runner
   * continues.
   */
  leaves(): void
  /** Answers one `POST /invoke`. Never rejects. */
  handle(request: HandlerRequest): Promise<HandlerResponse>
  /** Answers one invoke from a transport that has authenticated its sender. Never rejects. */
  invoke(request: unknown, options?: InvokeOptions): Promise<Answer>
}

/**
 * Creates a handler of `POST /invoke` without a transport. Throws a TypeError for an invalid option, and a ConfigError
 * for an invalid environment variable.
 */
export function createHandler(options: HandlerOptions): Handler {
  return handlerFor('createHandler', options, HANDLER_OPTIONS)
}

/** Names of the options of a handler. */
export const HANDLER_OPTIONS: OptionNames<HandlerOptions> = {
  app: true,
  workflows: true,
  signingKey: true,
  allowUnsigned: true,
  limits: true,
  middleware: true,
  log: true,
}

/** Creates the handler of an adapter. Its function `what` has further options. A runner without a workflow is a mistake. */
export function createHandlerFor(what: string, options: HandlerOptions, known: object): Handler {
  const handler = handlerFor(what, options, known)
  if (handler.workflows.length > 0) return handler
  throw new TypeError(`${what}: \`workflows\` is an empty list, so app "${handler.app}" would have nothing to run`)
}

function handlerFor(what: string, options: HandlerOptions, known: object): Handler {
  if (isWorkflow(options)) throw new TypeError(`${what} takes options: { app: 'my-app', workflows: [${options.name}] }`)
  refuseUnknownOptions(what, options, known)
  checkEnvironment()
  if (typeof options.app !== 'string' || options.app.trim() === '' || options.app.length > NAME_CHARS_MAX) {
    throw new TypeError('A runner needs the name of its app')
  }
  checkMiddleware(options.middleware, `Runner of app "${options.app}"`)
  const workflows = byName(options.workflows)
  const { middleware = [] } = options
  const log = runnerLogOf(options.log)
  if (options.log !== undefined) logOutsideTo(options.log)
  const keys = signingKeysOf(options.signingKey)
  const signatures = keys.length > 0 ? new SignatureCheck(options.app, keys) : undefined
  const door = signatures ? undefined : new UnsignedDoor(options.allowUnsigned ?? readAllowUnsigned())
  const reports = new HttpReports()
  const end = { isNear: false }
  const parts: Parts = { workflows, middleware, log, door, signatures, reports, end, memory: newMemory() }
  return {
    app: options.app,
    workflows: [...workflows.values()].map(workflow => workflow.registration),
    warnings: [...workflows.values()].flatMap(({ warning }) => warning ?? []),
    limits: options.limits,
    keyFingerprints: keys.map(keyFingerprint),
    servedAt(url, runnerId = url) {
      door?.servedAt(url)
      signatures?.registersAs(runnerId)
    },
    acknowledged(reply, reportsTo) {
      signatures?.acknowledged(reply)
      reports.reachedAt(reportsTo)
    },
    listensOn: host => door?.listensOn(host),
    leaves() {
      end.isNear = true
    },
    async handle(request) {
      return responseOf(refusalOf(request, parts) ?? (await answerBody(request, parts)))
    },
    invoke: (request, options) => dispatch(parts, request, options),
  }
}

/** The parts of a handler. It has either signing keys to check requests, or rules for unsigned requests. */
interface Parts {
  workflows: Map<string, Workflow>
  middleware: readonly Middleware[]
  log: RunnerLog
  door: UnsignedDoor | undefined
  signatures: SignatureCheck | undefined
  reports: HttpReports
  readonly memory: RunnerMemory
  /** `isNear`: the runner is about to close. */
  readonly end: { isNear: boolean }
}

/** Builds the response to a request that a transport refuses before the handler sees it. */
export function refusal(status: number, message: string): HandlerResponse {
  return responseOf(answerRefusal(status, message))
}

/**
 * Marks the answer as the runner's (docs/wire-protocol.md#marked-answers). Headers are a new object each time, because servers
 * write their own fields into the object they get.
 */
function responseOf(answer: Answer): HandlerResponse {
  return { status: answer.status, headers: { ...HEADERS }, body: answer.body }
}

/** Copied for each answer: a copy costs a tenth of a literal with a computed name. */
const HEADERS = { 'content-type': 'application/json', [RUNNER_HEADER]: RUNNER_MARK }

/** Returns the error response for a request whose body must not be parsed; undefined for an acceptable request. */
function refusalOf(
  { headers, rawBody, host, remoteAddress }: HandlerRequest,
  { door, signatures }: Parts,
): Answer | undefined {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    // Not a 4xx, which would end the run: code of the runner has parsed the body, and can be fixed.
    return answerRefusal(500, `The raw body of the request must be text or bytes, not ${typeof rawBody}`)
  }
  const bytes = Buffer.byteLength(rawBody)
  if (bytes > REQUEST_BYTES_MAX) {
    return answerRefusal(413, `The request has ${bytes} bytes; the maximum is ${REQUEST_BYTES_MAX}`)
  }
  const header = (name: string) => headerOf(headers, name)
  const refused =
    signatures?.refusalOf({ rawBody, signature: header(SIGNATURE_HEADER) }) ??
    door?.refusalOf({ header, host: header('host') ?? host, remoteAddress })
  if (refused) return answerRefusal(refused.status, refused.message, ENGINE_REFUSED)
  const version = header(PROTOCOL_HEADER)
  if (version !== undefined && version.trim() !== String(PROTOCOL_VERSION)) {
    return answerRefusal(400, `The engine speaks wire version ${version}, this runner ${PROTOCOL_VERSION}`)
  }
  return undefined
}

async function answerBody({ headers, rawBody, cancellation }: HandlerRequest, parts: Parts): Promise<Answer> {
  const { signatures, reports } = parts
  let body: unknown
  try {
    body = JSON.parse(typeof rawBody === 'string' ? rawBody : toText(rawBody))
  } catch {
    return answerRefusal(400, 'The body of the request is not JSON')
  }
  const downgrade = signatures?.downgradeOf(body, headerOf(headers, SIGNATURE_HEADER))
  if (downgrade) return answerRefusal(downgrade.status, downgrade.message, ENGINE_REFUSED)
  return dispatch(parts, body, { cancellation }, reports)
}

/**
 * Runs a pass with the handler's middleware. Options are named one by one: every pass runs this code, and copying them took 2 %
 * of the pass.
 */
async function dispatch(
  { workflows, end, middleware, log: ownLog, memory: ownMemory }: Parts,
  value: unknown,
  { cancellation, checkpoint, running, log = ownLog, now, memory = ownMemory, streams, ask }: InvokeOptions = {},
  reports?: HttpReports,
): Promise<Answer> {
  const request = asInvokeRequest(value)
  if (!request) return answerRefusal(400, 'The body of the request is not an invoke')
  const workflow = workflows.get(request.ctx.workflow)
  if (!workflow) return answerRefusal(404, `This runner has no workflow "${request.ctx.workflow}"`)
  const ofPass = reports?.of(request)
  const answer = await invoke(workflow, request, {
    cancellation,
    checkpoint: ofPass ? ofPass.checkpoint : checkpoint,
    running: ofPass ?? running,
    middleware,
    log,
    now,
    mayReport: () => !end.isNear && (ofPass?.checkpoint === undefined || ofPass.isOpen),
    memory,
    streams: streams ?? reports?.streams,
    ask: ask ?? reports?.ask,
  })
  // A handler that throws for good does not wait for its steps; the engine stores them before the end.
  if (ofPass?.settled) await ofPass.settled
  return answer
}

/** Checks only the fields that a pass cannot work without. Unknown fields are ignored. */
function asInvokeRequest(value: unknown): InvokeRequest | undefined {
  if (!isRecord(value)) return undefined
  const { ctx, event, steps = {} } = value
  if (!isRecord(ctx) || typeof ctx.workflow !== 'string' || typeof ctx.runId !== 'string') return undefined
  if (!isRecord(event) || !isRecord(steps)) return undefined
  return { ...value, steps } as InvokeRequest
}

function byName(workflows: readonly AnyWorkflow[]): Map<string, Workflow> {
  if (!Array.isArray(workflows)) throw new TypeError('The workflows of a runner must be a list')
  const map = new Map<string, Workflow>()
  for (const [index, workflow] of workflows.entries()) {
    // A circular import, or a missing export, makes an entry `undefined`.
    if (!isWorkflow(workflow)) throw new TypeError(`workflows[${index}] is not a workflow: ${described(workflow)}`)
    if (map.has(workflow.name)) throw new TypeError(`Two workflows are named "${workflow.name}"`)
    map.set(workflow.name, workflow)
  }
  return map
}

/** Describes the value that was given instead of a workflow, and the probable mistake. */
function described(value: unknown): string {
  if (typeof value === 'function' && value.name.startsWith(WITHOUT_HANDLER)) {
    const name = value.name.slice(WITHOUT_HANDLER.length)
    return `workflow ${name} has no handler; pass it as the second argument, createWorkflow(options, handler)`
  }
  if (value === undefined)
    return 'undefined; check that it is exported and that the files do not import each other in a circle'
  if (isRecord(value) && Object.values(value).some(isWorkflow)) {
    return 'an object with workflows, such as a module; name the workflow in it'
  }
  if (typeof value !== 'function') return typeof value
  return `a function; make it a workflow with createWorkflow({ name: 'my-workflow' }, ${value.name || 'handler'})`
}

function isWorkflow(value: unknown): value is Workflow {
  return isRecord(value) && typeof value.handler === 'function' && typeof value.name === 'string'
}

function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const value = (headers as Record<string, string | readonly string[] | undefined>)[name]
  return typeof value === 'object' ? value.join(',') : value
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
