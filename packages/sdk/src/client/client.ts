// `createClient()`: sends events to the engine.

import type { SendEventReply } from '@perdure/protocol'
import { engineUrl, readEnvironment } from '../engine/environment.ts'
import { postToEngine } from '../engine/http.ts'
import { chainOf, checkMiddleware } from '../middleware/chain.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { type DataArguments, type EventDefinition, isEventDefinition, type SentOf } from '../schema/event.ts'
import { type OptionNames, refuseUnknownOptions } from '../schema/known-options.ts'
import { asReceived, validate } from '../schema/validate.ts'

/** The engine that a client sends to, and how. */
export interface ClientOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  url?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Deadline of each call. Default 10 s. */
  timeoutMs?: number
  /** Middleware whose `transformOutput` changes the data of sent events, the last first; for example, to encrypt it. */
  middleware?: readonly Middleware[]
}

const CLIENT_OPTIONS: OptionNames<ClientOptions> = { url: true, apiKey: true, timeoutMs: true, middleware: true }

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
  signal?: AbortSignal
  timeoutMs?: number
}

/** Options of sending a typed event: those of the call, and the event's fields except name and data. */
export type SendDefinedOptions = SendOptions & Omit<EventToSend, 'name' | 'data'>

/** Sends events to one engine. */
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
}

/** Creates a client of the engine's event endpoint. Throws when the engine's URL is not a URL. */
export function createClient(options: ClientOptions = {}): Client {
  refuseUnknownOptions('createClient', options, CLIENT_OPTIONS)
  const url = `${engineUrl(options.url)}/events`
  const apiKey = options.apiKey ?? readEnvironment('ENGINE_API_KEY')
  checkMiddleware(options.middleware, 'The client')
  const middleware = chainOf(options.middleware)
  const post = (event: EventToSend, { signal, timeoutMs = options.timeoutMs ?? 10_000 }: SendOptions) => {
    const data = middleware.output(event.data, { kind: 'event', name: event.name })
    const body = data === event.data ? event : { ...event, data }
    return postToEngine<SendEventReply>({ url, apiKey, body, signal, timeoutMs })
  }
  return {
    async send(event: EventToSend | EventDefinition, ...rest: [unknown?, SendDefinedOptions?]) {
      if (!isEventDefinition(event)) return post(event, (rest[0] as SendOptions | undefined) ?? {})
      const [data, { signal, timeoutMs, ...fields } = {}] = rest
      await validate(event.schema, asReceived(data), { what: `The event "${event.name}"`, root: 'data' })
      return post({ ...fields, name: event.name, data }, { signal, timeoutMs })
    },
  }
}
