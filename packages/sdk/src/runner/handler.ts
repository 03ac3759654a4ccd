// `createHandler()`: answers invokes without a transport, from the raw request to status and body. Every serve adapter
// and `connect()` call it.

import { Buffer } from 'node:buffer'
import {
  type InvokeRequest,
  keyFingerprint,
  NAME_CHARS_MAX,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  SIGNATURE_HEADER,
  verifyBody,
  type WorkflowRegistration,
} from '@perdure/protocol'
import { checkEnvironment, parseKeys, readEnvironment } from '../engine/environment.ts'
import { checkMiddleware } from '../middleware/chain.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { type Answer, answerError } from '../replay/answer.ts'
import { type InvokeOptions, invoke } from '../replay/invoke.ts'
import type { Cancellation } from '../run/cancellation.ts'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import type { AnyWorkflow, Workflow } from '../workflow/workflow.ts'

/** The app and the workflows that a runner serves, and the keys that its engine signs with. */
export interface HandlerOptions {
  /** Name of the app. */
  app: string
  workflows: readonly AnyWorkflow[]
  /**
   * Key (during a rotation: keys) that the engine signs invokes with. Default: `ENGINE_SIGNING_KEY`, a list separated
   * by commas or spaces. Without a key, every request is accepted.
   */
  signingKey?: string | readonly string[]
  /** Middleware around the passes and steps of every workflow, outside the workflow's own. The first is the outermost. */
  middleware?: readonly Middleware[]
}

/** A `Headers` object, or a record with lower-case names such as Node's. */
export type HeaderSource = Pick<Headers, 'get'> | Record<string, string | readonly string[] | undefined>

/** One `POST /invoke`, as the transport received it. */
export interface HandlerRequest {
  headers: HeaderSource
  /** The unparsed body: the signature is over its bytes. */
  rawBody: string | Uint8Array
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
  checkEnvironment()
  if (typeof options.app !== 'string' || options.app.trim() === '' || options.app.length > NAME_CHARS_MAX) {
    throw new TypeError('A runner needs the name of its app')
  }
  checkMiddleware(options.middleware, `Runner of app "${options.app}"`)
  const workflows = byName(options.workflows)
  const { middleware = [] } = options
  const keys = parseKeys(options.signingKey ?? readEnvironment('ENGINE_SIGNING_KEY'))
  return {
    app: options.app,
    workflows: [...workflows.values()].map(workflow => workflow.registration),
    keyFingerprints: keys.map(keyFingerprint),
    async handle(request) {
      const answer = refusalOf(request, keys) ?? (await answerBody(workflows, request, middleware))
      return { ...answer, headers: HEADERS }
    },
    invoke: (request, options) => dispatch(workflows, request, { ...options, middleware }),
  }
}

/** Builds the response to a request that a transport refuses before the handler sees it. */
export function refusal(status: number, message: string): HandlerResponse {
  return { ...answerError(status, new Error(message)), headers: HEADERS }
}

/** Returns the error response for a request whose body must not be parsed; undefined for an acceptable request. */
function refusalOf({ headers, rawBody }: HandlerRequest, keys: readonly string[]): Answer | undefined {
  const bytes = Buffer.byteLength(rawBody)
  if (bytes > REQUEST_BYTES_MAX) {
    return answerError(413, new Error(`The request has ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are read`))
  }
  const signature = headerOf(headers, SIGNATURE_HEADER)
  if (keys.length > 0 && !verifyBody({ keys, body: rawBody, nowMs: Date.now(), header: signature })) {
    const why = 'missing, wrong or too old (ENGINE_SIGNING_KEY must be the same on both sides)'
    return answerError(401, new Error(`The signature of the request is ${why}`))
  }
  const version = headerOf(headers, PROTOCOL_HEADER)
  if (version !== undefined && version.trim() !== String(PROTOCOL_VERSION)) {
    const message = `The engine speaks wire version ${version}, this runner ${PROTOCOL_VERSION}`
    return answerError(400, new Error(message))
  }
  return undefined
}

async function answerBody(
  workflows: Map<string, Workflow>,
  request: HandlerRequest,
  middleware: readonly Middleware[],
): Promise<Answer> {
  let body: unknown
  try {
    const text = typeof request.rawBody === 'string' ? request.rawBody : toText(request.rawBody)
    body = JSON.parse(text)
  } catch (error) {
    return answerError(400, new Error('The body of the request is not JSON', { cause: error }))
  }
  return dispatch(workflows, body, { middleware, cancellation: request.cancellation })
}

async function dispatch(
  workflows: Map<string, Workflow>,
  value: unknown,
  options: InvokeOptions = {},
): Promise<Answer> {
  const request = asInvokeRequest(value)
  if (!request) return answerError(400, new Error('The body of the request is not an invoke'))
  const workflow = workflows.get(request.ctx.workflow)
  if (!workflow) return answerError(404, new Error(`This runner has no workflow "${request.ctx.workflow}"`))
  return invoke(workflow, request, options)
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
    if (!isWorkflow(workflow)) {
      throw new TypeError(`workflows[${index}] is not a workflow: ${typeof workflow}`)
    }
    if (map.has(workflow.name)) throw new TypeError(`Two workflows are named "${workflow.name}"`)
    map.set(workflow.name, workflow)
  }
  return map
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
