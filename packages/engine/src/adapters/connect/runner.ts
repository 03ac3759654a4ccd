// One Connect runner: its sockets, the room on them, and the calls whose socket was lost and which wait for the runner to return.
// transport.ts keeps one per URL.

import { CLOSE_CODES } from '@perdure/protocol'
import { TransientMap } from '../../base/transient-map.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConnectionOptions, RunnerSocket } from '../../ports/connections.ts'
import type { Call, CallOwner } from './call.ts'
import { SocketWatch } from './watch.ts'

/** Most sockets of one runner; a further one replaces the oldest. */
const RUNNER_SOCKETS_MAX = 64
const WITHOUT_IT = 'the runner reconnected and no longer works on this call'

/** A registered socket of the runner, with the calls on it. */
export interface RegisteredSocket extends Required<CallOwner> {
  readonly instance: string | undefined
  readonly isNamed: boolean
  readonly watch: SocketWatch
  /** The runner is about to close it: it takes no further invokes. */
  isLeaving: boolean
}

/** A socket that was lost, with its calls. */
interface LostSocket extends CallOwner {
  readonly instance: string | undefined
  cancelTimer(): void
}

export interface ConnectedRunnerOptions {
  clock: Clock
  /** How long the calls of a lost socket wait for the runner. */
  graceMs: number
  /** The pending call of this runner with the id. */
  find(id: string): Call | undefined
  /** Whether the id may belong to another engine's call. */
  isForeign(id: string): boolean
  /** Called when the last socket is gone. */
  onDisconnected(): void
  /** Called when neither sockets nor calls are left. */
  onEmpty(): void
}

export class ConnectedRunner {
  readonly sockets: RegisteredSocket[] = []
  readonly #options: ConnectedRunnerOptions
  readonly #lost = new Set<LostSocket>()
  /** Most calls on all sockets: the newest registration decides, on whichever socket it arrived. */
  #maxConcurrency = Number.POSITIVE_INFINITY
  /** Where the search for a socket begins, so that equal ones take turns. */
  #nextSocket = 0

  constructor(options: ConnectedRunnerOptions) {
    this.#options = options
  }

  /** How many more invokes the runner would take now; undefined when it has no bound. */
  get room(): number | undefined {
    if (!this.sockets.some(takesInvokes)) return 0
    if (this.#maxConcurrency === Number.POSITIVE_INFINITY) return undefined
    return Math.max(0, this.#maxConcurrency - this.#callCount)
  }

  /** Includes the calls of lost sockets: the runner may still work on them. */
  get #callCount(): number {
    let count = 0
    for (const { calls } of this.sockets) count += calls.size
    for (const { calls } of this.#lost) count += calls.size
    return count
  }

  /** Sets the bound of calls; undefined removes it. */
  bound(maxConcurrency = Number.POSITIVE_INFINITY): void {
    this.#maxConcurrency = maxConcurrency
  }

  open(socket: RunnerSocket, options: ConnectionOptions): RegisteredSocket {
    const { instance, isNamed, underWay, maxConcurrency, leaving = false, beats = false } = options
    const calls = new TransientMap<string, Call>()
    const watch = new SocketWatch({ clock: this.#options.clock, owner: { calls, socket }, beats })
    const opened: RegisteredSocket = { socket, instance, isNamed, isLeaving: leaving, calls, watch }
    this.bound(maxConcurrency)
    const earlier = this.sockets.find(one => instance !== undefined && one.instance === instance)
    const replaced = earlier ?? (this.sockets.length >= RUNNER_SOCKETS_MAX ? this.sockets[0] : undefined)
    this.sockets.push(opened)
    if (replaced) {
      this.lose(replaced)
      replaced.socket.close(CLOSE_CODES.replaced, 'another socket of the runner replaced this one')
    }
    if (underWay) this.reclaim(opened, underWay)
    else if (earlier) {
      // The replacement does not name its calls: it inherits the calls of its instance.
      for (const lost of [...this.#lost])
        if (lost.instance === instance) this.#settle(lost, call => call.moveTo(opened))
    }
    return opened
  }

  /**
   * Moves the calls that the runner still works on to this socket. Fails the other calls of lost sockets if this instance,
   * or an unknown one, had them.
   */
  reclaim(claimant: RegisteredSocket, underWay: readonly string[]): void {
    const { clock, graceMs, isForeign } = this.#options
    const { socket } = claimant
    for (const id of new Set(underWay)) {
      const call = this.#options.find(id)
      if (call) call.moveTo(claimant)
      else if (!isForeign(id)) socket.send('invoke.cancel', id)
      // Another engine has the call, and waits for its result until the grace period is over.
      else clock.after(graceMs, () => socket.send('invoke.cancel', id))
    }
    for (const lost of [...this.#lost]) {
      const instances = [lost.instance, claimant.instance]
      // Sockets that name no instance may belong to any.
      const isOther = instances.includes(undefined)
      // The same process is alive, so it did not lose the call by exiting.
      if (isOther) this.#settle(lost, call => call.breakOff(WITHOUT_IT))
      else if (instances[0] === instances[1]) this.#settle(lost, call => call.fail(WITHOUT_IT))
    }
  }

  /** Removes a socket that is gone. Its calls wait for the runner to return, if it can. */
  lose(socket: RegisteredSocket): void {
    const index = this.sockets.indexOf(socket)
    if (index < 0) return
    this.sockets.splice(index, 1)
    socket.watch.stop()
    if (socket.isNamed) this.#awaitReturn(socket)
    else for (const call of [...socket.calls.values()]) call.breakOff(socket.socket.silence)
    if (this.sockets.length === 0) this.#options.onDisconnected()
    this.#checkEmpty()
  }

  #awaitReturn({ calls, instance, socket }: RegisteredSocket): void {
    if (calls.size === 0) return
    const { clock, graceMs } = this.#options
    const cancelTimer = clock.after(graceMs, () => this.#settle(lost, call => call.breakOff(socket.silence)))
    const lost: LostSocket = { calls: new TransientMap(), instance, cancelTimer }
    for (const call of [...calls.values()]) call.moveTo(lost)
    this.#lost.add(lost)
  }

  /** Ends or moves the calls of a lost socket, and forgets it. */
  #settle(lost: LostSocket, settle: (call: Call) => void): void {
    for (const call of [...lost.calls.values()]) settle(call)
    lost.cancelTimer()
    this.#lost.delete(lost)
    this.#checkEmpty()
  }

  #checkEmpty(): void {
    if (this.sockets.length === 0 && this.#lost.size === 0) this.#options.onEmpty()
  }

  /** The writable socket with the fewest calls, taking turns among equals; undefined when there is no room. */
  pick(): RegisteredSocket | undefined {
    const { sockets } = this
    let best: RegisteredSocket | undefined
    if (this.room === 0) return undefined
    this.#nextSocket++
    for (let i = 0; i < sockets.length; i++) {
      const one = sockets[(this.#nextSocket + i) % sockets.length] as RegisteredSocket
      if (takesInvokes(one) && (!best || one.calls.size < best.calls.size)) best = one
    }
    return best
  }
}

function takesInvokes({ socket, isLeaving }: RegisteredSocket): boolean {
  return socket.isWritable && !isLeaving
}
