// `POST /events` with as little work as undici allows: Pool.dispatch with a handler that skips what it does not need.

import { type Dispatcher, Pool } from 'undici'

/** Senders share this many kept-alive connections; a further POST waits for a free one. */
const CONNECTIONS = 64
const HEADERS = ['content-type', 'application/json']

/** Status 0: no answer, and `text` is the reason. The body is passed only when it was requested. */
type OnReply = (status: number, body: string) => void

export class EventPoster {
  readonly #pools: Pool[]
  readonly #path: string
  #turn = 0

  /** With several engines, events go to each in turn. */
  constructor(origin: string | readonly string[], { path = '/events', connections = CONNECTIONS } = {}) {
    this.#path = path
    this.#pools = [origin].flat().map(one => new Pool(one, { connections, pipelining: 1 }))
  }

  post(body: string, wantBody: boolean, onReply: OnReply): void {
    const exchange = new Exchange(wantBody, onReply)
    const pool = this.#pools[this.#turn++ % this.#pools.length] as Pool
    pool.dispatch({ method: 'POST', path: this.#path, headers: HEADERS, body }, exchange)
  }

  /** Resolves with the parsed 202; for the few calls that are made one at a time. */
  send<Reply = { runId: string }>(event: { name: string; app: string; data: unknown }): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.post(JSON.stringify(event), true, (status, body) => {
        if (status === 202) resolve(JSON.parse(body))
        else reject(new Error(`POST /events: ${status} ${body}`))
      })
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map(pool => pool.destroy()))
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #wantBody: boolean
  readonly #onReply: OnReply
  #status = 0
  #body = ''

  constructor(wantBody: boolean, onReply: OnReply) {
    this.#wantBody = wantBody
    this.#onReply = onReply
  }

  onConnect(): void {}

  onHeaders(status: number): boolean {
    this.#status = status
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.#wantBody || this.#status >= 400) this.#body += chunk.toString()
    return true
  }

  onComplete(): void {
    this.#onReply(this.#status, this.#body)
  }

  onError(error: Error): void {
    this.#onReply(0, error.message)
  }
}
