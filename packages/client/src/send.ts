// `client.send()` sends events to the engine; `client.start()` and `client.run()` give handles of runs. Called by client.ts.

import {
  type Attributes,
  DURATION_FORMS,
  type Duration,
  parseDurationMs,
  type SendEvent,
  type SendEventReply,
} from '@perdure/protocol/portable'
import { type Engine, handleOf, type RunHandle, type StartOptions, starter, type WorkflowRef } from './handle.ts'
import type { Json } from './json.ts'
import {
  type DataArguments,
  type EventDefinition,
  eventNameOf,
  isEventDefinition,
  type SentOf,
} from './schema/event.ts'
import { type OptionNames, refuseUnknownOptions } from './schema/known-options.ts'
import { asReceived, validate } from './schema/validate.ts'
import type { ValueChain } from './values/value-chain.ts'

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
  /** The event arrives at this time, at most 366 days ahead: a Date, epoch milliseconds, or an ISO 8601 string. */
  at?: Date | number | string
  /** The event arrives after this time. */
  delay?: Duration
  /** Attributes of the runs that the event starts. */
  attributes?: Attributes
}

/** Options of one call. */
export interface SendOptions {
  /**
   * How long the reply waits for the end of the run that the event starts, at most 60 s. The reply has `run` with its result or
   * error, if the event started exactly one run and that ended in time.
   */
  wait?: Duration
  /**
   * If the event starts exactly one run, the reply has a `token` that reads this run, for a browser, and counts for so long: from 1 s to
   * 24 h.
   */
  token?: Duration
  signal?: AbortSignal
  /** Deadline of the call. */
  timeoutMs?: number
}

/** Options of sending an event by its definition or name: those of the call, and the event's fields except name and data. */
export type SendDefinedOptions = SendOptions & Omit<EventToSend, 'name' | 'data'>

const FIELDS: OptionNames<Omit<EventToSend, 'name' | 'data'>> = {
  app: true,
  dedupeId: true,
  runner: true,
  targetApp: true,
  at: true,
  delay: true,
  attributes: true,
}

const EVENT_FIELDS: OptionNames<EventToSend> = { ...FIELDS, name: true, data: true }
const SEND_OPTIONS: OptionNames<SendDefinedOptions> = {
  ...FIELDS,
  wait: true,
  token: true,
  signal: true,
  timeoutMs: true,
}

/** The methods of a client for the runs of an app: it sends events, starts runs, and waits for their results. */
export interface RunMethods {
  /**
   * Sends an event. Resolves when the engine has stored it durably. Rejects with a
   * `PerdureError`, or with the reason of `signal` when it aborts. With a `dedupeId` a repeat of the event starts nothing.
   */
  send<Data>(event: EventToSend<Data> & { schema?: never }, options?: SendDefinedOptions): Promise<SendEventReply>
  send(name: string, data?: unknown, options?: SendDefinedOptions): Promise<SendEventReply>
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
   * input itself. By name, `start<typeof order>('order', data)` has the types of the workflow without its code.
   */
  start<Sent, Output>(
    workflow: WorkflowRef<Output, Sent>,
    ...rest: DataArguments<NoInfer<Sent>, StartOptions>
  ): Promise<RunHandle<Json<Output>>>
  start<Of = unknown>(
    workflow: string,
    ...rest: Of extends WorkflowRef<unknown, infer Sent> ? DataArguments<Sent, StartOptions> : [unknown?, StartOptions?]
  ): Promise<RunHandle<ResultOf<Of>>>
  /** Returns the handle of a run of the workflow, for example of one that an event started. It calls nothing yet. */
  run<Output>(workflow: WorkflowRef<Output, never>, runId: string): RunHandle<Json<Output>>
  run<Of = unknown>(workflow: string, runId: string): RunHandle<ResultOf<Of>>
}

/** The type of the result, given the type of the workflow or of the result itself. */
type ResultOf<Of> = Of extends WorkflowRef<infer Output, never> ? Json<Output> : Of

/** Returns the methods. */
export function runMethodsOf(engine: Engine): RunMethods {
  return {
    async send(event: EventToSend | EventDefinition | string, ...rest: unknown[]) {
      const isWhole = typeof event === 'object' && event !== null && !isEventDefinition(event)
      const [data, options = {}] = (isWhole ? [undefined, ...rest] : rest) as [unknown?, SendDefinedOptions?]
      refuseUnknownOptions('send', options, SEND_OPTIONS)
      const { signal, timeoutMs, wait, token, ...fields } = options
      if (isWhole) refuseUnknownOptions('The event of send', event, EVENT_FIELDS)
      if (isEventDefinition(event))
        await validate(event.schema, asReceived(data), { what: `The event "${event.name}"`, root: 'data' })
      const sent = isWhole ? { ...event, ...fields } : { ...fields, name: eventNameOf(event as EventDefinition), data }
      return post(engine, sent, { signal, timeoutMs, wait, token })
    },
    start: starter(engine),
    run: (workflow: string | { name: string }, runId: string) =>
      handleOf(engine, typeof workflow === 'string' ? workflow : workflow.name, runId),
  }
}

/** Sends an event. Without a dedupe id it is never sent twice, whatever happens to the connection. */
async function post(engine: Engine, event: EventToSend, options: SendOptions): Promise<SendEventReply> {
  const { middleware, operations } = engine
  const { signal, wait, token } = options
  const waitMs = wait === undefined ? 0 : durationMsOf('wait', wait)
  const tokenMs = token === undefined ? undefined : durationMsOf('token', token)
  const data = middleware.output(event.data, { kind: 'event', name: event.name })
  const at = typeof event.at === 'number' ? { at: new Date(event.at).toISOString() } : {}
  const reply = await operations.sendEvent(
    {
      body: { ...event, data, ...at } as SendEvent,
      ...(waitMs > 0 && { wait: waitMs }),
      ...(tokenMs !== undefined && { token: tokenMs }),
    },
    {
      ...(signal && { signal }),
      timeoutMs: options.timeoutMs ?? engine.timeoutMs + waitMs,
      isRepeatable: event.dedupeId !== undefined,
    },
  )
  return withInput(reply, middleware)
}

function durationMsOf(name: 'wait' | 'token', given: Duration): number {
  const ms = parseDurationMs(given)
  if (ms === undefined) throw new TypeError(`send: \`${name}\` is not a duration: ${String(given)} (${DURATION_FORMS})`)
  return ms
}

/** Passes the result of the run through the middleware, as a handle does. */
function withInput(reply: SendEventReply, middleware: ValueChain): SendEventReply {
  const { run, triggered } = reply
  if (run?.status !== 'succeeded' || !middleware.changesInput) return reply
  const name = triggered?.find(({ runId }) => runId === run.runId)?.workflow ?? ''
  return { ...reply, run: { ...run, result: middleware.input(run.result, { kind: 'child', name }) } }
}
