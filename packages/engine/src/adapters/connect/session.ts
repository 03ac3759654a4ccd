// One registered socket of a Connect runner, and the invokes on it. http/connect tells it what comes in.

import { TransientMap } from '../../collections/transient-map.ts'
import type { RunnerSocket, Session, SessionOptions, SessionTerms } from '../../ports/connections.ts'
import type { Calls } from './call.ts'
import type { ConnectedRunner } from './runner.ts'

export class ConnectSession implements Session {
  readonly socket: RunnerSocket
  readonly instance: string | undefined
  readonly isNamed: boolean
  readonly calls: Calls = new TransientMap()
  readonly #runner: ConnectedRunner

  constructor(runner: ConnectedRunner, socket: RunnerSocket, options: SessionOptions) {
    this.#runner = runner
    this.socket = socket
    this.instance = options.instance
    this.isNamed = options.isNamed
  }

  renew({ maxConcurrency, underWay }: SessionTerms): void {
    this.#runner.bound(maxConcurrency)
    if (underWay) this.#runner.reclaim(this, underWay)
    this.#runner.roomMoved()
  }

  result(id: string, status: number, body: string): Promise<void> | undefined {
    const call = this.#runner.find(id)
    if (!call) return this.#runner.handOver(id, status, body)
    call.answered(status, body)
    return undefined
  }

  checkpoint(id: string, payload: string): void {
    const call = this.#runner.find(id)
    if (!call) {
      this.socket.send('invoke.cancel', id)
      return
    }
    // Its own socket may be dead without anybody having noticed: this one is alive.
    if (call.session !== this) call.moveTo(this.calls, this)
    call.checkpoint(payload)
  }

  unreadable(id: string, problem: string): void {
    this.#runner.find(id)?.fail(problem)
  }

  drained(): void {
    this.#runner.roomMoved()
  }

  close(): void {
    this.#runner.lose(this)
  }
}
