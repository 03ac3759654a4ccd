// `createHandler()`: answers invokes without a transport, from the raw request to status and body. Every serve adapter
// and `connect()` call it.

import { Buffer } from 'node:buffer'
import {
  type InvokeRequest,
  keyFingerprint,
  NAME_CHARS_MAX,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  type RegisterReply,
  SIGNATURE_HEADER,
  type WorkflowRegistration,
} from '@perdure/protocol'
import { checkEnvironment, readAllowUnsigned, signingKeysOf } from '../engine/environment.ts'
import { checkMiddleware } from '../middleware/chain.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { type Answer, answerRefusal } from '../replay/answer.ts'
import { type InvokeOptions, invoke } from '../replay/invoke.ts'
import type { Cancellation } from '../run/cancellation.ts'
import type { RunnerLog } from '../run/runner-log.ts'
import { type OptionNames, refuseUnknownOptions } from '../schema/known-options.ts'
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
   * Serve beyond this machine although there is no signing key: everybody who can connect may then run every step.
   * Default: `ENGINE_ALLOW_UNSIGNED`, else false.
   */
  allowUnsigned?: boolean
  /** Middleware around the passes and steps of every workflow, outside the workflow's own. The first is the outermost. */
  middleware?: readonly Middleware[]
  /** Takes errors that handlers throw outside their steps, and the state of the runner. Default: the console. */
  log?: RunnerLog
}

/** A `Headers` object, or a record with lower-case names such as Node's. */
export type HeaderSource = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>

/** One `POST /invoke`, as the transport received it. */
export interface HandlerRequest {
  headers: HeaderSource
  /** The unparsed body: the signature is over its bytes. */
  rawBody: string | Uint8Array
  /** The host that the caller named, where the transport does not pass it as a header. */
  host?: string
  /** The address of the caller, if the transport knows it. */
  remoteAddress?: string | undefined
  /** Cancelled by the transport when the connection of the caller breaks. */
  cancellation?: Cancellation
}

/** The response, which the transport sends unchanged. */
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
  /** One-way fingerprints of the signing keys, in their order. */
  readonly keyFingerprints: readonly string[]
  /**
   * The runner is reached by the engine at `url`, as {@link startRegistration} reports. Throws a ConfigError if that is
   * not on this machine, there is no signing key, and it is not allowed (`allowUnsigned`).
   */
  servedAt(url: string, runnerId?: string): void
  /**
   * The engine has acknowledged a registration of the runner, as {@link startRegistration} reports. `reportsTo`: the engine, if
   * passes may report their steps to it.
   */
  acknowledged(reply: RegisterReply, reportsTo?: ReportsTo): void
  /** The server of the runner listens on this host name or address. Throws like `servedAt`. */
  listensOn(host: string): void
  /** Answers one `POST /invoke`. Never rejects. */
  handle(request: HandlerRequest): Promise<HandlerResponse>
  /** Answers one invoke from a transport that has authenticated its sender. Never rejects. */
  invoke(request: unknown, options?: InvokeOptions): Promise<Answer>
}

const HEADERS = { 'content-type': 'application/json' }

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
  middleware: true,
  log: true,
}

/** Creates the handler of an adapter, whose function `what` knows further options. A runner without a workflow is a mistake. */
export function createHandlerFor(what: string, options: HandlerOptions, known: object): Handler {
  const handler = handlerFor(what, options, known)
  if (handler.workflows.length > 0) return handler
  throw new TypeError(`${what}: \`workflows\` is an empty list, so app "${handler.app}" would have nothing to run`)
}

function handlerFor(what: string, options: HandlerOptions, known: object): Handler {
  refuseUnknownOptions(what, options, known)
  checkEnvironment()
  if (typeof options.app !== 'string' || options.app.trim() === '' || options.app.length > NAME_CHARS_MAX) {
    throw new TypeError('A runner needs the name of its app')
  }
  checkMiddleware(options.middleware, `Runner of app "${options.app}"`)
  const workflows = byName(options.workflows)
  const { middleware = [], log } = options
  const keys = signingKeysOf(options.signingKey)
  const signatures = keys.length > 0 ? new SignatureCheck(options.app, keys) : undefined
  const door = signatures ? undefined : new UnsignedDoor(options.allowUnsigned ?? readAllowUnsigned())
  const reports = new HttpReports()
  const parts: Parts = { workflows, middleware, log, door, signatures, reports }
  return {
    app: options.app,
    workflows: [...workflows.values()].map(workflow => workflow.registration),
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
    async handle(request) {
      const answer = refusalOf(request, parts) ?? (await answerBody(request, parts))
      return { ...answer, headers: HEADERS }
    },
    invoke: (request, options) => dispatch(workflows, request, { log, ...options, middleware }),
  }
}

/** The parts of a handler. It has either signing keys to check requests with, or rules for requests without. */
interface Parts {
  workflows: Map<string, Workflow>
  middleware: readonly Middleware[]
  log: RunnerLog | undefined
  door: UnsignedDoor | undefined
  signatures: SignatureCheck | undefined
  reports: HttpReports
}

/** Builds the response to a request that a transport refuses before the handler sees it. */
export function refusal(status: number, message: string): HandlerResponse {
  return { ...answerRefusal(status, message), headers: HEADERS }
}

/** Returns the error response for a request whose body must not be parsed; undefined for an acceptable request. */
function refusalOf(
  { headers, rawBody, host, remoteAddress }: HandlerRequest,
  { door, signatures }: Parts,
): Answer | undefined {
  const bytes = Buffer.byteLength(rawBody)
  if (bytes > REQUEST_BYTES_MAX) {
    return answerRefusal(413, `The request has ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are read`)
  }
  const unproven = signatures?.refusalOf({ rawBody, signature: headerOf(headers, SIGNATURE_HEADER) })
  if (unproven) return answerRefusal(unproven.status, unproven.message)
  const header = (name: string) => headerOf(headers, name)
  const unsigned = door?.refusalOf({ header, host: header('host') ?? host, remoteAddress })
  if (unsigned) return answerRefusal(unsigned.status, unsigned.message)
  const version = headerOf(headers, PROTOCOL_HEADER)
  if (version !== undefined && version.trim() !== String(PROTOCOL_VERSION)) {
    return answerRefusal(400, `The engine speaks wire version ${version}, this runner ${PROTOCOL_VERSION}`)
  }
  return undefined
}

async function answerBody(
  { headers, rawBody, cancellation }: HandlerRequest,
  { workflows, middleware, log, signatures, reports }: Parts,
): Promise<Answer> {
  let body: unknown
  try {
    body = JSON.parse(typeof rawBody === 'string' ? rawBody : toText(rawBody))
  } catch {
    return answerRefusal(400, 'The body of the request is not JSON')
  }
  const downgrade = signatures?.downgradeOf(body, headerOf(headers, SIGNATURE_HEADER))
  if (downgrade) return answerRefusal(downgrade.status, downgrade.message)
  return dispatch(workflows, body, { middleware, cancellation, log }, reports)
}

async function dispatch(
  workflows: Map<string, Workflow>,
  value: unknown,
  options: InvokeOptions = {},
  reports?: HttpReports,
): Promise<Answer> {
  const request = asInvokeRequest(value)
  if (!request) return answerRefusal(400, 'The body of the request is not an invoke')
  const workflow = workflows.get(request.ctx.workflow)
  if (!workflow) return answerRefusal(404, `This runner has no workflow "${request.ctx.workflow}"`)
  const ofPass = reports?.of(request)
  if (!ofPass) return invoke(workflow, request, options)
  const { checkpoint, isOpen: mayReport } = ofPass
  const answer = await invoke(workflow, request, { ...options, checkpoint, mayReport })
  // A handler that throws for good does not wait for its steps; the engine stores them before the end.
  await ofPass.settled()
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

/** Says what stands in the place of a workflow, and the probable mistake. */
function described(value: unknown): string {
  if (typeof value === 'function' && value.name.startsWith(WITHOUT_HANDLER)) {
    const name = value.name.slice(WITHOUT_HANDLER.length)
    return `workflow ${name} has no handler; pass it as the second argument, createWorkflow(options, handler)`
  }
  if (value === undefined) return 'undefined; is it exported, and do the files not import each other in a circle?'
  if (isRecord(value) && Object.values(value).some(isWorkflow)) {
    return 'an object with workflows, such as a module; name the workflow in it'
  }
  return typeof value
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
