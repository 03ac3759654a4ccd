// The connection of a reader of one run to its engine. Used by read-stream.ts and follow-run.ts.

import { enginesOf } from '../http/environment.ts'
import type { Connection } from '../http/exchange.ts'
import type { follow, StreamSettings } from '../http/stream.ts'

/** The run to read, and how. */
export interface ReadOptions {
  /** URL of the engine. */
  url: string
  runId: string
  /** A run token, or an API key. An engine without keys needs none. */
  token?: string | undefined
  fetch?: typeof globalThis.fetch | undefined
  signal?: AbortSignal | undefined
  /** Called when a connection has opened, and when one has failed. A stream that the engine ends in order is opened again at once. */
  onLive?: ((isLive: boolean) => void) | undefined
  settings?: Partial<StreamSettings> | undefined
}

/** The engine writes a comment every 15 s. With these pauses a reader keeps trying for a quarter of an hour. */
export const DEFAULT_READ: StreamSettings = { silenceMs: 45_000, retryMs: 250, retryMsMax: 10_000, attemptsMax: 100 }

/** The settings of `follow`. */
export function settingsOf({ settings, signal, onLive }: ReadOptions): Parameters<typeof follow>[2] {
  return {
    ...DEFAULT_READ,
    ...settings,
    signal,
    onOpen: () => onLive?.(true),
    onFailure: () => onLive?.(false),
  }
}

/** Returns the connection, with the headers of every request. Nothing is read from the environment. */
export function connectionTo({ url, token, fetch }: ReadOptions): Connection & { headers: Record<string, string> } {
  return {
    engines: enginesOf(url),
    apiKey: token,
    // Called on its own: browsers refuse it as a method of another object.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
    isOwnFetch: true,
    json: JSON,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  }
}
