// The session of one registered socket: takes what http/connect receives on it, and passes it on to the calls of its
// runner.

import type { Session, SessionTerms } from '../../ports/connections.ts'
import type { Call } from './call.ts'
import type { ConnectedRunner, RegisteredSocket } from './runner.ts'

export interface ConnectSessionOptions {
  runner: ConnectedRunner
  registered: RegisteredSocket
  /** The pending call of the runner with the id. */
  find(id: string): Call | undefined
  /** Passes on the result of a call that is not pending here; undefined when no other engine can wait for it. */
  forwardResult(id: string, status: number, body: string): Promise<void> | undefined
  /** The runner has another bound, or has read what was sent. */
  onRoomChange(): void
}

export class ConnectSession implements Session {
  readonly #options: ConnectSessionOptions

  constructor(options: ConnectSessionOptions) {
    this.#options = options
  }

  renew({ maxConcurrency, underWay }: SessionTerms): void {
    const { runner, registered, onRoomChange } = this.#options
    runner.bound(maxConcurrency)
    if (underWay) runner.reclaim(registered, underWay)
    onRoomChange()
  }

  result(id: string, status: number, body: string): Promise<void> | undefined {
    const call = this.#options.find(id)
    if (!call) return this.#options.forwardResult(id, status, body)
    call.answer(status, body)
    return undefined
  }

  checkpoint(id: string, payload: string): void {
    const { registered, find } = this.#options
    const call = find(id)
    if (!call) {
      registered.socket.send('invoke.cancel', id)
      return
    }
    // The call's own socket may be dead without the engine having noticed; this one is alive.
    call.moveTo(registered)
    call.checkpoint(payload)
  }

  unreadable(id: string, problem: string): void {
    this.#options.find(id)?.fail(problem)
  }

  drained(): void {
    this.#options.onRoomChange()
  }

  close(): void {
    const { runner, registered } = this.#options
    runner.lose(registered)
  }
}
