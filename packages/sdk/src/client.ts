// Sending events to the engine (contract §4.4).

import type { SendEventReply } from '@perdure/protocol'
import { postToEngine } from './engine-http.ts'
import { engineUrl, readEnvironment } from './environment.ts'

export interface ClientOptions {
  /** Base URL of the engine. Default: `ENGINE_URL`, else `http://127.0.0.1:4777`. */
  url?: string
  /** Default: `ENGINE_API_KEY`. */
  apiKey?: string
  /** Deadline of each call. Default 10 s. */
  timeoutMs?: number
}

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

export interface SendOptions {
  signal?: AbortSignal
  timeoutMs?: number
}

export interface Client {
  /**
   * Sends an event; resolves once the engine has stored it durably. Rejects with a
   * {@link import('./errors.ts').PerdureError}, or with the signal's reason when that aborts.
   */
  send<Data>(event: EventToSend<Data>, options?: SendOptions): Promise<SendEventReply>
}

/** A client of the engine's event endpoint. */
export function createClient(options: ClientOptions = {}): Client {
  const url = `${engineUrl(options.url)}/events`
  const apiKey = options.apiKey ?? readEnvironment('ENGINE_API_KEY')
  const defaultTimeoutMs = options.timeoutMs ?? 10_000
  return {
    send: (event, { signal, timeoutMs = defaultTimeoutMs } = {}) =>
      postToEngine<SendEventReply>({ url, apiKey, body: event, signal, timeoutMs }),
  }
}
