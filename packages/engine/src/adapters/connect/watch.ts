// Watches a socket with invokes under way: its runner's machine may vanish without notice. A runner that does not answer
// immediately gets no further invokes, and later its socket is closed. A socket without invokes is left to the heartbeats of the
// hub (http/connect). Owned by runner.ts.

import type { Clock } from '../../ports/clock.ts'
import type { RunnerSocket } from '../../ports/connections.ts'
import type { Call, CallOwner } from './call.ts'

/** A ping follows an invoke that gets no sign of life for this long. */
const PING_AFTER_MS = 700
/** A runner that has confirmed its invokes is pinged after this silence. */
const PING_CONFIRMED_AFTER_MS = 5000
/** How long the answer to a ping may take. */
const ANSWER_MS_MAX = 1300
/** Number of pings that a silent runner gets before its socket is closed, at most 15 s after its last sign of life. */
const UNANSWERED_MAX = 7
const SILENT = 'the runner does not answer on its socket'

export interface SocketWatchOptions {
  clock: Clock
  owner: Required<Pick<CallOwner, 'calls'>> & { readonly socket: RunnerSocket }
  /**
   * The runner's process sends heartbeats outside the socket while its event loop is blocked, so silence means that it is gone.
   */
  beats: boolean
}

export class SocketWatch {
  readonly #options: SocketWatchOptions
  #cancelTimer: (() => void) | undefined
  #checkAt = 0
  /** Number of pings since the last sign of life: a count, so that a clock that leaps closes no socket. */
  #unanswered = 0
  #pingedAt = 0

  constructor(options: SocketWatchOptions) {
    this.#options = options
  }

  /** Called when an invoke was sent on the socket, or moved to it. */
  begin(): void {
    const { clock, beats } = this.#options
    if (!beats || (this.#cancelTimer && this.#checkAt <= clock.elapsed() + PING_AFTER_MS)) return
    this.#cancelTimer?.()
    this.#checkIn(PING_AFTER_MS)
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #checkIn(ms: number): void {
    const { clock } = this.#options
    this.#checkAt = clock.elapsed() + ms
    this.#cancelTimer = clock.after(ms, () => {
      this.#cancelTimer = undefined
      const nextMs = this.#check()
      if (nextMs !== undefined && !this.#cancelTimer) this.#checkIn(nextMs)
    })
  }

  /** Returns when to look again; undefined when no invoke is under way. */
  #check(): number | undefined {
    const { clock, owner } = this.#options
    const { socket, calls } = owner
    if (calls.size === 0 && this.#unanswered < 2) return undefined
    if (this.#unanswered > 0 && socket.heardAt < this.#pingedAt) return this.#notAnswered()
    this.#unanswered = 0
    const first = this.#firstUnconfirmed()
    const dueAt = first === undefined ? socket.heardAt + PING_CONFIRMED_AFTER_MS : first.sentAt + PING_AFTER_MS
    const leftMs = dueAt - clock.elapsed()
    return leftMs > 0 ? leftMs : this.#ping()
  }

  #ping(): number {
    const { clock, owner } = this.#options
    this.#pingedAt = clock.elapsed()
    this.#unanswered++
    owner.socket.ping()
    return ANSWER_MS_MAX
  }

  #notAnswered(): number | undefined {
    const { socket, calls } = this.#options.owner
    if (this.#unanswered > UNANSWERED_MAX) {
      socket.giveUp()
      return undefined
    }
    socket.doubt()
    for (const call of [...calls.values()]) if (call.sentAt >= socket.heardAt) call.passOver(SILENT)
    return this.#ping()
  }

  #firstUnconfirmed(): Call | undefined {
    const { socket, calls } = this.#options.owner
    for (const call of calls.values()) if (call.sentAt >= socket.heardAt) return call
    return undefined
  }
}
