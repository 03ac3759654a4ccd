// `createClient()`: sends events to the engine, starts runs, and waits for their results.

import { DURATION_FORMS, parseDurationMs, type SendEventReply } from '@perdure/protocol'
import { engineUrl, readEnvironment } from '../engine/environment.ts'
import { postToEngine } from '../engine/http.ts'
import { chainOf, checkMiddleware, type MiddlewareChain } from '../middleware/chain.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { Duration } from '../run/run-context.ts'
import { type DataArguments, type EventDefinition, isEventDefinition, type SentOf } from '../schema/event.ts'
import { type OptionNames, refuseUnknownOptions } from '../schema/known-options.ts'
import { asReceived, validate } from '../schema/validate.ts'
import type { Json } from '../wire/json.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { handleOf, type RunHandle, type Starter, type StartOptions, starter } from './start.ts'

/** The engine that a client sends to, and how. */
export interface ClientOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  url?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** The app whose workflows `start` starts, if the call names none. */
  app?: string
  /** Deadline of each call, beyond the time that it waits for a result. Default 10 s. */
  timeoutMs?: number
  /** Middleware whose `transformOutput` changes the data of sent events, the last first; for example, to encrypt it. */
  middleware?: readonly Middleware[]
}

const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  url: true,
  apiKey: true,
  app: true,
  timeoutMs: true,
  middleware: true,
}

/** An event: its name, its data, and the apps it is for. */
export interface EventToSend<Data = unknown> {
  name: string
  data?: Data
  /** Matches only the triggers of this app. Default: the triggers of every app. */
  app?: string
  /** A second event with the same id within 24 hours is dropped. */
  dedupeId?: string
  /** Pins the started runs to this runner. */
  runner?: string
  /** Sends a cross-app trigger to one app. */
  targetApp?: string
}

/** Options of one call. */
export interface SendOptions {
  /**
   * How long the reply waits for the end of the run that the event starts, at most 60 s. The reply has `run` with its result or
   * error, if the event started exactly one run and that ended in time.
   */
  wait?: Duration
  signal?: AbortSignal
  /** Deadline of the call. */
  timeoutMs?: number
}

/** Options of sending a typed event: those of the call, and the event's fields except name and data. */
export type SendDefinedOptions = SendOptions & Omit<EventToSend, 'name' | 'data'>

/** Sends events to one engine, and starts runs on it. */
export interface Client {
  /**
   * Sends an event. Resolves when the engine has stored it durably. Rejects with a
   * `PerdureError`, or with the reason of `signal` when it aborts.
   */
  send<Data>(event: EventToSend<Data> & { schema?: never }, options?: SendOptions): Promise<SendEventReply>
  /**
   * Sends a typed event. Its data is validated first, as its receivers validate it. Rejects with an
   * `InvalidDataError` when the schema refuses the data.
   */
  send<Event extends EventDefinition>(
    event: Event,
    ...rest: DataArguments<SentOf<Event>, SendDefinedOptions>
  ): Promise<SendEventReply>
  /**
   * Starts a run of a workflow, whatever its triggers are. Resolves when the engine has stored the run. With `runId` a repeat
   * starts nothing and resolves with the handle of the same run. It needs an API key of kind `secret`. The run validates its
   * input itself.
   */
  start<Sent, Output>(
    workflow: Workflow<never, Output, Sent>,
    ...rest: DataArguments<NoInfer<Sent>, StartOptions>
  ): Promise<RunHandle<Json<Output>>>
  start<Output = unknown>(workflow: string, input?: unknown, options?: StartOptions): Promise<RunHandle<Output>>
  /** Returns the handle of a run of the workflow, for example of one that an event started. It calls nothing yet. */
  run<Output>(workflow: Workflow<never, Output, never>, runId: string): RunHandle<Json<Output>>
  run<Output = unknown>(workflow: string, runId: string): RunHandle<Output>
}

/** Creates a client of the engine's event endpoint. Throws when the engine's URL is not a URL. */
export function createClient(options: ClientOptions = {}): Client {
  refuseUnknownOptions('createClient', options, CLIENT_OPTIONS)
  const base = engineUrl(options.url)
  const apiKey = options.apiKey ?? readEnvironment('ENGINE_API_KEY')
  checkMiddleware(options.middleware, 'The client')
  const middleware = chainOf(options.middleware)
  const engine = { base, apiKey, app: options.app, timeoutMs: options.timeoutMs ?? 10_000, middleware }
  return {
    async send(event: EventToSend | EventDefinition, ...rest: [unknown?, SendDefinedOptions?]) {
      if (!isEventDefinition(event)) return post(engine, event, (rest[0] as SendOptions | undefined) ?? {})
      const [data, { signal, timeoutMs, wait, ...fields } = {}] = rest
      await validate(event.schema, asReceived(data), { what: `The event "${event.name}"`, root: 'data' })
      return post(engine, { ...fields, name: event.name, data }, { signal, timeoutMs, wait })
    },
    start: starter(engine),
    run: (workflow: string | { name: string }, runId: string) =>
      handleOf(engine, typeof workflow === 'string' ? workflow : workflow.name, runId),
  }
}

/** Sends an event. Without a dedupe id it is not sent twice, whatever happens to the connection. */
async function post(engine: Starter, event: EventToSend, options: SendOptions): Promise<SendEventReply> {
  const { middleware, base, apiKey } = engine
  const { signal, wait } = options
  const waitMs = wait === undefined ? 0 : waitMsOf(wait)
  const data = middleware.output(event.data, { kind: 'event', name: event.name })
  const reply = await postToEngine<SendEventReply>({
    url: `${base}/events${waitMs > 0 ? `?wait=${waitMs}` : ''}`,
    apiKey,
    body: data === event.data ? event : { ...event, data },
    signal,
    timeoutMs: options.timeoutMs ?? engine.timeoutMs + waitMs,
    isRepeatable: event.dedupeId !== undefined,
  })
  return withInput(reply, middleware)
}

function waitMsOf(wait: Duration): number {
  const ms = parseDurationMs(wait)
  if (ms === undefined) throw new TypeError(`send: \`wait\` is not a duration: ${String(wait)} (${DURATION_FORMS})`)
  return ms
}

/** Passes the result of the run through the middleware, as a handle does. */
function withInput(reply: SendEventReply, middleware: MiddlewareChain): SendEventReply {
  const { run, triggered } = reply
  if (run?.status !== 'succeeded' || !middleware.changesInput) return reply
  const name = triggered?.find(({ runId }) => runId === run.runId)?.workflow ?? ''
  return { ...reply, run: { ...run, result: middleware.input(run.result, { kind: 'child', name }) } }
}
