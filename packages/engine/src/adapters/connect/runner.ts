// One Connect runner: its sockets, how much room is on them, and the invokes whose socket was lost and that the runner may
// come back for.

import { CLOSE_CODES } from '@perdure/protocol'
import { TransientMap } from '../../collections/transient-map.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunnerSocket, SessionOptions } from '../../ports/connections.ts'
import type { Call, Calls } from './call.ts'
import { ConnectSession } from './session.ts'

/** Sockets of one runner; one more takes the place of the oldest. */
const SOCKETS_MAX = 64

/** Invokes of a socket that was lost. */
interface Lost {
  calls: Calls
  instance: string | undefined
  cancel(): void
}

export interface ConnectedRunnerOptions {
  clock: Clock
  /** How long a runner has to come back for its invokes. */
  graceMs: number
  /** A call of the whole transport, by its id. */
  find(id: string): Call | undefined
  /** Whether the id may be that of a call of another engine. */
  isForeign(id: string): boolean
  /** A result of such a call came; resolves when it may be acknowledged. */
  onStray(id: string, status: number, body: string): Promise<void> | undefined
  /** It may have room for more, or is away. */
  onRoom(): void
  /** Its last socket is gone. */
  onAway(): void
  /** Nothing of the runner is left. */
  onEmpty(): void
}

export class ConnectedRunner {
  readonly sessions: ConnectSession[] = []
  readonly #options: ConnectedRunnerOptions
  readonly #lost = new Set<Lost>()
  /** Most invokes under way on all its sockets, as the newest registration has it. */
  #maxConcurrency = Number.POSITIVE_INFINITY
  #turn = 0

  constructor(options: ConnectedRunnerOptions) {
    this.#options = options
  }

  /** How many further invokes it would take at once; undefined when it has no bound. */
  get room(): number | undefined {
    if (!this.sessions.some(({ socket }) => socket.isWritable)) return 0
    if (this.#maxConcurrency === Number.POSITIVE_INFINITY) return undefined
    return Math.max(0, this.#maxConcurrency - this.#underWay)
  }

  /** Those of lost sockets count: the runner may still work on them. */
  get #underWay(): number {
    let underWay = 0
    for (const { calls } of this.sessions) underWay += calls.size
    for (const { calls } of this.#lost) underWay += calls.size
    return underWay
  }

  /** The newest registration counts, whichever socket it came on. */
  bound(maxConcurrency: number | undefined): void {
    this.#maxConcurrency = maxConcurrency ?? Number.POSITIVE_INFINITY
  }

  /** An invoke that this runner was sent, and that has no reply yet. */
  find(id: string): Call | undefined {
    const call = this.#options.find(id)
    return call?.runner === this ? call : undefined
  }

  /** A result of a call that is not known here; undefined when there is nobody to hand it to. */
  handOver(id: string, status: number, body: string): Promise<void> | undefined {
    return this.#options.isForeign(id) ? this.#options.onStray(id, status, body) : undefined
  }

  /** A call ended, a socket came or has been read, or there is another bound. */
  roomMoved(): void {
    this.#options.onRoom()
  }

  open(socket: RunnerSocket, options: SessionOptions): ConnectSession {
    const session = new ConnectSession(this, socket, options)
    const { instance, underWay, maxConcurrency } = options
    this.bound(maxConcurrency)
    const earlier = this.sessions.find(one => instance !== undefined && one.instance === instance)
    const replaced = earlier ?? (this.sessions.length >= SOCKETS_MAX ? this.sessions[0] : undefined)
    this.sessions.push(session)
    if (replaced) {
      this.lose(replaced)
      replaced.socket.close(CLOSE_CODES.replaced, 'another socket took its place')
    }
    if (underWay) this.reclaim(session, underWay)
    else if (earlier) this.#inherit(session)
    return session
  }

  /**
   * The runner says what it still works on: that goes on here. What it does not name is over, if it was this
   * instance's, or nobody can tell whose.
   */
  reclaim(session: ConnectSession, underWay: readonly string[]): void {
    const named = new Set(underWay)
    for (const id of named) {
      const call = this.find(id)
      if (call) call.moveTo(session.calls, session)
      else if (!this.#options.isForeign(id)) session.socket.send('invoke.cancel', id)
      else this.#cancelLater(session, id)
    }
    for (const lost of [...this.#lost]) {
      if (!isSameInstance(lost, session)) continue
      for (const call of [...lost.calls.values()]) call.fail('the runner came back without it')
      this.#forget(lost)
    }
  }

  /** Another engine waits for its result so long, and no longer. */
  #cancelLater({ socket }: ConnectSession, id: string): void {
    const { clock, graceMs } = this.#options
    clock.at(clock.now() + graceMs, () => socket.send('invoke.cancel', id))
  }

  /** The socket is gone: its invokes wait for the runner to come back, if it can. */
  lose(session: ConnectSession): void {
    const index = this.sessions.indexOf(session)
    if (index < 0) return
    this.sessions.splice(index, 1)
    if (session.isNamed) this.#await(session)
    else for (const call of [...session.calls.values()]) this.#breakOff(call)
    if (this.sessions.length === 0) {
      this.#options.onAway()
      this.#options.onRoom()
    }
    this.#checkEmpty()
  }

  #await(session: ConnectSession): void {
    if (session.calls.size === 0) return
    const { clock, graceMs } = this.#options
    const end = () => {
      for (const call of [...lost.calls.values()]) this.#breakOff(call)
      this.#forget(lost)
    }
    const cancel = clock.at(clock.now() + graceMs, end)
    const lost: Lost = { calls: new TransientMap(), instance: session.instance, cancel }
    for (const call of [...session.calls.values()]) call.moveTo(lost.calls)
    this.#lost.add(lost)
  }

  #breakOff(call: Call): void {
    call.session = undefined
    call.fail('the socket was lost over the call')
  }

  /** A socket replaces one of the same name and says nothing of its invokes: they move over. */
  #inherit(session: ConnectSession): void {
    for (const lost of [...this.#lost]) {
      if (lost.instance !== session.instance) continue
      for (const call of [...lost.calls.values()]) call.moveTo(session.calls, session)
      this.#forget(lost)
    }
  }

  #forget(lost: Lost): void {
    lost.cancel()
    this.#lost.delete(lost)
    this.#checkEmpty()
  }

  #checkEmpty(): void {
    if (this.sessions.length === 0 && this.#lost.size === 0) this.#options.onEmpty()
  }

  /** The least loaded socket that is read, in turn among equals; none when the runner has enough to do. */
  pick(): ConnectSession | undefined {
    const { sessions } = this
    let best: ConnectSession | undefined
    if (this.room === 0) return undefined
    this.#turn++
    for (let i = 0; i < sessions.length; i++) {
      const session = sessions[(this.#turn + i) % sessions.length] as ConnectSession
      if (session.socket.isWritable && (!best || session.calls.size < best.calls.size)) best = session
    }
    return best
  }
}

/** Sockets without a name may be anybody's. */
function isSameInstance(a: { instance: string | undefined }, b: { instance: string | undefined }): boolean {
  return a.instance === undefined || b.instance === undefined || a.instance === b.instance
}
