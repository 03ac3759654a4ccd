// Reads one run's event stream until the frame that says that the run succeeded.

import { type Dispatcher, Pool } from 'undici'

export class RunStreams {
  readonly #pool: Pool

  constructor(origin: string) {
    this.#pool = new Pool(origin, { connections: 1, pipelining: 1 })
  }

  /** Resolves when the stream has ended, with the time (performance.now) of the frame that says the run succeeded. */
  untilSucceeded(runId: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const path = `/runs/${runId}/stream`
      this.#pool.dispatch({ method: 'GET', path }, new SuccessWatch(resolve, reject))
    })
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}

class SuccessWatch implements Dispatcher.DispatchHandler {
  readonly #resolve: (seenAt: number) => void
  readonly #reject: (error: Error) => void
  #pending = ''
  #seenAt: number | undefined

  constructor(resolve: (seenAt: number) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  onConnect(): void {}

  onHeaders(status: number): boolean {
    if (status !== 200) this.#reject(new Error(`the run's stream answered ${status}`))
    return true
  }

  onData(chunk: Buffer): boolean {
    const now = performance.now()
    const messages = (this.#pending + chunk.toString()).split('\n\n')
    this.#pending = messages.pop() ?? ''
    const isEnd = (text: string) => text.includes('event: run_status') && text.includes('"status":"succeeded"')
    if (messages.some(isEnd)) this.#seenAt ??= now
    return true
  }

  onComplete(): void {
    if (this.#seenAt === undefined) this.#reject(new Error('the stream ended and the run had not succeeded'))
    else this.#resolve(this.#seenAt)
  }

  onError(error: Error): void {
    this.#reject(error)
  }
}
