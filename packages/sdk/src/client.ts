// Sending events to the engine (contract §4.4).

import type { SendEventReply } from '@perdure/protocol'
import { postToEngine } from './engine-http.ts'
import { engineUrl, readEnvironment } from './environment.ts'
import { chainOf, checkMiddleware } from './middleware/chain.ts'
import type { Middleware } from './middleware/middleware.ts'
import { type EventDefinition, isEventDefinition, type SentOf } from './schema/event.ts'
import { asReceived, validate } from './schema/validate.ts'

/** Which engine, and how to reach it. */
export interface ClientOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  url?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Deadline of each call. Default 10 s. */
  timeoutMs?: number
  /** Each `transformOutput` changes the data of what is sent, innermost (last) first: what encrypts it, for instance. */
  middleware?: readonly Middleware[]
}

/** An event: its name, its data, and whom it is for. */
export interface EventToSend<Data = unknown> {
  name: string
  data?: Data
  /** Only this app's triggers; omitted: every app's. */
  app?: string
  /** A repetition with the same id within 24 hours is dropped. */
  dedupeId?: string
  /** Pins the started runs to this runner. */
  runner?: string
  /** Sends a cross-app trigger to one app. */
  targetApp?: string
}

/** How one call is made, beside what it sends. */
export interface SendOptions {
  signal?: AbortSignal
  timeoutMs?: number
}

/** How a typed event is sent, and what is said of it beside its name and data. */
export type SendDefinedOptions = SendOptions & Omit<EventToSend, 'name' | 'data'>

/** The data of a typed event; left out when that may be undefined. */
type DataArguments<Sent> = undefined extends Sent
  ? [data?: Sent, options?: SendDefinedOptions]
  : [data: Sent, options?: SendDefinedOptions]

/** Sends events to one engine. */
export interface Client {
  /**
   * Sends an event; resolves once the engine has stored it durably. Rejects with a
   * {@link import('./errors.ts').PerdureError}, or with the signal's reason when that aborts.
   */
  send<Data>(event: EventToSend<Data> & { schema?: never }, options?: SendOptions): Promise<SendEventReply>
  /**
   * Sends a typed event. Its data is validated before, as its receivers will: rejects with an
   * {@link import('./errors.ts').InvalidDataError} when the schema refuses it.
   */
  send<Event extends EventDefinition>(
    event: Event,
    ...rest: DataArguments<SentOf<Event>>
  ): Promise<SendEventReply>
}

/** A client of the engine's event endpoint. */
export function createClient(options: ClientOptions = {}): Client {
  const url = `${engineUrl(options.url)}/events`
  const apiKey = options.apiKey ?? readEnvironment('ENGINE_API_KEY')
  checkMiddleware(options.middleware, 'The client')
  const middleware = chainOf(options.middleware)
  const post = (event: EventToSend, { signal, timeoutMs = options.timeoutMs ?? 10_000 }: SendOptions) => {
    const data = middleware.output(event.data, { kind: 'event', name: event.name })
    const body = data === event.data ? event : { ...event, data }
    return postToEngine<SendEventReply>({ url, apiKey, body, signal, timeoutMs })
  }
  const sendDefined = async (
    event: EventDefinition,
    data: unknown,
    { signal, timeoutMs, ...rest }: SendDefinedOptions = {},
  ) => {
    await validate(event.schema, asReceived(data), { what: `The event "${event.name}"`, root: 'data' })
    return post(
      { ...rest, name: event.name, data },
      { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) },
    )
  }
  return {
    async send(event: EventToSend | EventDefinition, ...rest: [unknown?, SendDefinedOptions?]) {
      return isEventDefinition(event)
        ? sendDefined(event, rest[0], rest[1])
        : post(event, (rest[0] as SendOptions | undefined) ?? {})
    },
  }
}
