// The engines of one cluster: their addresses, and calls that move on to the next engine when one is gone. Called by the SDK and
// the client, which take a list wherever they take an address.

import { callKeptAlive, type KeptAliveAnswer, type KeptAliveCall } from './kept-alive.ts'

export const DEFAULT_ENGINE_URL = 'http://127.0.0.1:4777'

const NAME = "The engine's URL (ENGINE_URL)"

/** The addresses, and the one that calls go to now. It stays the same until that engine fails. */
export class EngineList {
  readonly urls: readonly string[]
  #at: number

  private constructor(urls: readonly string[], at: number) {
    this.urls = urls
    this.#at = at % urls.length
  }

  /**
   * Reads the list from an array, or from a text whose addresses are separated by commas or white space. It starts at a random
   * address, so that many runners and clients are spread. Throws a TypeError with the `name` of the setting and the item that is
   * not a URL.
   */
  static of(given: string | readonly string[], { random = Math.random(), name = NAME } = {}): EngineList {
    const items = (typeof given === 'string' ? [given] : given).flatMap(text => text.split(/[\s,]+/))
    const urls = [...new Set(items.filter(item => item !== '').map(item => baseOf(item, name)))]
    if (urls.length === 0) throw new TypeError(`${name} is not an http or https URL: ${given}`)
    return new EngineList(urls, Math.floor(random * urls.length))
  }

  /** The address that calls go to, without a slash at its end. */
  get url(): string {
    return this.urls[this.#at] as string
  }

  get size(): number {
    return this.urls.length
  }

  /** The same addresses with a separate position, `offset` addresses further on. */
  from(offset: number): EngineList {
    return new EngineList(this.urls, this.#at + offset)
  }

  /** Makes calls go to the next engine from now on, unless they already do. */
  passOver(url: string): void {
    if (url === this.url) this.#at = (this.#at + 1) % this.urls.length
  }

  /** For messages. */
  toString(): string {
    return this.urls.join(', ')
  }
}

function baseOf(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError(`${name} is not an http or https URL: ${text}`)
  url.search = ''
  url.hash = ''
  return url.href.replace(/\/+$/, '')
}

export interface EngineCall extends KeptAliveCall {
  /** Path and query, relative to the engine's address. */
  path: string
  /** Time of the whole call, and the part of it that the engine may take because the caller makes it wait. */
  timeoutMs: number
  waitMs?: number | undefined
  /** Sends one request. Default: `callKeptAlive`. */
  send?: ((url: string, call: KeptAliveCall) => Promise<KeptAliveAnswer>) | undefined
}

/** An answer whose text has been read. */
export interface EngineAnswer extends Omit<KeptAliveAnswer, 'text'> {
  /** The whole address that answered. */
  url: string
  text: string
}

/** Time to connect to an engine, if there is another one. */
const CONNECT_MS_MAX = 2_000

/**
 * Calls an engine. With several, the next one is called if one cannot be reached or shuts down. A call that may be made twice
 * also moves on if an engine does not answer in its share of the time, breaks off, or is not available. Rejects with the last
 * error.
 */
export async function callAnyEngine(engines: EngineList, call: EngineCall): Promise<EngineAnswer> {
  const { path, timeoutMs, waitMs = 0, send = callKeptAlive, ...request } = call
  const isRepeatable = request.isRepeatable ?? request.method === 'GET'
  const share = waitMs + (timeoutMs - waitMs) / engines.size
  for (let left = engines.size - 1; ; left--) {
    const { url } = engines
    const late = left > 0 && isRepeatable ? AbortSignal.timeout(share) : undefined
    const signal = late ? AbortSignal.any([request.signal, late]) : request.signal
    const connectMsMax = engines.size > 1 ? CONNECT_MS_MAX : undefined
    try {
      const answer = await send(url + path, { ...request, signal, connectMsMax })
      const { status, ok, headers } = answer
      const text = await answer.text()
      const isPassedOver = engines.size > 1 && !ok && isAway(status, text, isRepeatable)
      if (isPassedOver) engines.passOver(url)
      if (!isPassedOver || left === 0) return { url: url + path, status, ok, headers, text }
    } catch (error) {
      engines.passOver(url)
      const mayGoOn = left > 0 && !request.signal.aborted && (isRepeatable || neverReached(error))
      if (!mayGoOn) throw error
    }
  }
}

/** Whether another engine may do better. An engine that shuts down has not begun the call. */
function isAway(status: number, text: string, isRepeatable: boolean): boolean {
  if (status !== 502 && status !== 503 && status !== 504) return false
  return isRepeatable || (status === 503 && /"reason":\s*"shutting_down"/.test(text))
}

const NEVER_REACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CONNECT_TIMEOUT',
])

/** Whether the connection failed before anything was sent. */
function neverReached(error: unknown): boolean {
  // Browsers give no code, and their bundles leave this out.
  if (globalThis.process === undefined) return false
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] }
  if (NEVER_REACHED.has(code)) return true
  // A host with several addresses fails with one error for each.
  if (errors !== undefined && errors.length > 0) return errors.every(neverReached)
  return cause instanceof Error && neverReached(cause)
}
