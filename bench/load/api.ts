// One client for all requests of the bench: undici's Pool.dispatch, which costs the load as little as possible.

import { StringDecoder } from 'node:string_decoder'
import { type Dispatcher, Pool } from 'undici'

/** Returns the secret key of a namespace, for engines that `Rig` starts with several namespaces. */
export const keyOf = (namespace: string) => `bench-key-of-namespace-${namespace}-0123456789`

export interface Answer {
  status: number
  text: string
  /** The cursor of the next page. */
  cursor: string | undefined
}

export interface ApiOptions {
  /** Calls use the key of this namespace. */
  namespace?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** Number of kept-alive connections; a further request waits for a free one. */
  connections?: number
}

export class Api {
  readonly #pools: Pool[]
  readonly #headers: Record<string, string>
  #turn = 0

  /** With several engines, requests go to them in turn. */
  constructor(origin: string | readonly string[], { namespace, headers, connections = 64 }: ApiOptions = {}) {
    this.#pools = [origin].flat().map(one => new Pool(one, { connections, pipelining: 1 }))
    this.#headers = { 'content-type': 'application/json', ...headers }
    if (namespace !== undefined) this.#headers.authorization = `Bearer ${keyOf(namespace)}`
  }

  /** Resolves with the whole answer, whatever its status. `onData` gets each piece of the body as it arrives. */
  call(method: 'GET' | 'POST', path: string, body?: string | Buffer, onData?: (text: string) => void) {
    return new Promise<Answer>((resolve, reject) => {
      const answer: Answer = { status: 0, text: '', cursor: undefined }
      // A character may be split between two chunks.
      const decoder = new StringDecoder()
      const handler: Dispatcher.DispatchHandler = {
        onConnect() {},
        onHeaders(status, rawHeaders) {
          answer.status = status
          if (method === 'GET') answer.cursor = headerOf(rawHeaders, 'x-next-cursor')
          return true
        },
        onData(chunk) {
          const text = decoder.write(chunk)
          answer.text += text
          onData?.(text)
          return true
        },
        onComplete: () => resolve(answer),
        onError: error => reject(new Error(`${method} ${path}: ${error.message}`)),
      }
      const pool = this.#pools[this.#turn++ % this.#pools.length] as Pool
      pool.dispatch({ method, path, headers: this.#headers, body: body ?? null }, handler)
    })
  }

  /** Returns the parsed answer. Throws if its status is not 2xx. */
  async get<T>(path: string): Promise<T> {
    return parsed(`GET ${path}`, await this.call('GET', path))
  }

  /** Like `get`, but sends a body as JSON. */
  async post<T>(path: string, body?: unknown): Promise<T> {
    return parsed(`POST ${path}`, await this.call('POST', path, JSON.stringify(body)))
  }

  /**
   * Returns the time (performance.now) of the frame that says that the run succeeded. Resolves when the run's stream has ended.
   */
  async untilSucceeded(runId: string): Promise<number> {
    let [pending, seenAt] = ['', Number.NaN]
    const isEnd = (text: string) => text.includes('event: run_status') && text.includes('"status":"succeeded"')
    await this.call('GET', `/runs/${runId}/stream`, undefined, text => {
      const now = performance.now()
      const messages = (pending + text).split('\n\n')
      pending = messages.pop() ?? ''
      if (Number.isNaN(seenAt) && messages.some(isEnd)) seenAt = now
    })
    if (Number.isNaN(seenAt)) throw new Error(`the stream of run ${runId} ended and the run had not succeeded`)
    return seenAt
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map(pool => pool.destroy()))
  }
}

function parsed<T>(request: string, { status, text }: Answer): T {
  if (status < 200 || status > 299) throw new Error(`${request}: ${status} ${text}`)
  return JSON.parse(text) as T
}

function headerOf(raw: readonly (Buffer | string)[], name: string): string | undefined {
  const at = raw.findIndex((text, i) => i % 2 === 0 && String(text).toLowerCase() === name)
  return at < 0 ? undefined : String(raw[at + 1])
}
