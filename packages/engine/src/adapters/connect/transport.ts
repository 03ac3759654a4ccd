// The Connect transport: an invoke is a frame on a socket that the runner opened (docs/wire-protocol.md#connect).
// The driver calls it once per pass; http/connect opens the connections.

import { randomBytes } from 'node:crypto'
import { connectUrlOwner } from '../../domain/model/connect-url.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  Beat,
  ConnectionOptions,
  Connections,
  Presence,
  RunnerConnection,
  RunnerSocket,
} from '../../ports/connections.ts'
import type { MessageMemory } from '../../ports/message-memory.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'
import { ENGINE_CLOSING, PendingCalls } from '../transport/pending-calls.ts'
import { Call } from './call.ts'
import { ConnectedRunner, type RegisteredSocket } from './runner.ts'

/** A result that arrived on a socket of the runner at `url`, for a call that is not pending on this engine. */
export interface ForeignResult {
  url: string
  id: string
  status: number
  body: string
}

export interface ConnectTransportOptions {
  clock: Clock
  /** Bounds large answers and checkpoints. Without it they are unbounded. */
  memory?: MessageMemory
  /** How long the calls of a lost socket wait for their runner. */
  lostGraceMs?: number
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number
  /** Called when a runner has its first socket, and when it has lost its last. */
  onPresence?: (url: string, isHere: boolean) => void
  /** Called with results of calls that another engine may have. Resolves when they may be acknowledged. */
  onForeignResult?: (result: ForeignResult) => Promise<void> | undefined
  /** Called with heartbeats of sockets that another engine may have. */
  onBeat?: (namespace: string, beat: Beat) => void
  /** Called when a runner may have room for more, or has lost its last socket. */
  onRoomChange?: (url: string) => void
}

export const LOST_GRACE_MS = 5000

/** The reply when no engine has a socket of the runner. */
export const NOT_CONNECTED: InvokeReply = { kind: 'refused', message: 'the runner is not connected' }

export class ConnectTransport implements Transport, Connections, Presence {
  isDraining = false
  readonly #options: ConnectTransportOptions &
    Required<Pick<ConnectTransportOptions, 'lostGraceMs' | 'onPresence' | 'onRoomChange'>>
  /** By URL: the runners with a socket, or with calls that wait for one. */
  readonly #runners = new Map<string, ConnectedRunner>()
  readonly #pending = new PendingCalls<string, Call>()
  /** Unique per process: a result may still arrive after a restart. */
  readonly #idPrefix = `inv_${randomBytes(6).toString('hex')}`
  #idCount = 0

  constructor(options: ConnectTransportOptions) {
    const defaults = {
      lostGraceMs: LOST_GRACE_MS,
      onPresence: () => {},
      onRoomChange: () => {},
    }
    this.#options = { ...defaults, ...options }
  }

  /** `body` is a JSON object: it becomes the frame's payload, with the deadline added. */
  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    if (this.#pending.isClosing) return Promise.resolve({ kind: 'refused', message: ENGINE_CLOSING })
    const runner = this.#runners.get(call.url)
    if (!runner || runner.sockets.length === 0) return Promise.resolve(NOT_CONNECTED)
    const socket = runner.pick()
    if (!socket) {
      return Promise.resolve({ kind: 'refused', message: 'the runner has no free capacity', isFull: true })
    }
    const id = `${this.#idPrefix}${(++this.#idCount).toString(36)}`
    return new Promise(resolve => {
      const onReply = (reply: InvokeReply) => {
        this.#pending.delete(id)
        resolve(reply)
        this.#options.onRoomChange(call.url)
      }
      const sent = new Call({ id, call, memory: this.#options.memory, onReply })
      this.#pending.add(id, sent)
      sent.send(socket, this.#options.clock.elapsed())
    })
  }

  /** Registered sockets of all runners. */
  get size(): number {
    let size = 0
    for (const { sockets } of this.#runners.values()) size += sockets.length
    return size
  }

  reaches(url: string): boolean {
    return (this.#runners.get(url)?.sockets.length ?? 0) > 0
  }

  /** How many more invokes the runner would take now; undefined when it has no bound. */
  room(url: string): number | undefined {
    const runner = this.#runners.get(url)
    return runner ? runner.room : 0
  }

  /** Whether the runner has a pending call with the id. */
  has(url: string, id: string): boolean {
    return this.#find(url, id) !== undefined
  }

  /** Takes the result of a pending call that another engine received. */
  take({ url, id, status, body }: ForeignResult): void {
    this.#find(url, id)?.answer(status, body)
  }

  /** The URLs of the runners with a socket. */
  get connected(): string[] {
    return [...this.#runners].flatMap(([url, { sockets }]) => (sockets.length > 0 ? url : []))
  }

  lastSeenAt(url: string): number | undefined {
    const sockets = this.#runners.get(url)?.sockets ?? []
    return sockets.length === 0 ? undefined : Math.max(...sockets.map(({ socket }) => socket.lastSeenAt))
  }

  open(socket: RunnerSocket, options: ConnectionOptions): RunnerConnection {
    const { url } = options
    const runner = this.#runners.get(url) ?? this.#newRunner(url)
    this.#runners.set(url, runner)
    const isFirst = runner.sockets.length === 0
    const registered = runner.open(socket, options)
    if (isFirst) this.#options.onPresence(url, true)
    this.#options.onRoomChange(url)
    return this.#connection(url, runner, registered)
  }

  beat(namespace: string, beat: Beat): void {
    this.beatHere(namespace, beat)
    this.#options.onBeat?.(namespace, beat)
  }

  /**
   * The same, only for the sockets of this engine. The heartbeat counts only while an invoke is under way: a process
   * that hangs without one is given up.
   */
  beatHere(namespace: string, { instances, step }: Beat): void {
    for (const [url, { sockets }] of this.#runners) {
      if (connectUrlOwner(url)?.namespace !== namespace) continue
      for (const { socket, instance, calls } of sockets)
        if (instance !== undefined && calls.size > 0 && instances.includes(instance)) socket.beat(step)
    }
  }

  #connection(url: string, runner: ConnectedRunner, registered: RegisteredSocket): RunnerConnection {
    const { onForeignResult, onRoomChange } = this.#options
    return {
      renew: ({ maxConcurrency, underWay, leaving = false }) => {
        runner.bound(maxConcurrency)
        registered.isLeaving = leaving
        if (underWay) runner.reclaim(registered, underWay)
        onRoomChange(url)
      },
      result: (id, status, body) => {
        if (this.#isForeign(id)) return onForeignResult?.({ url, id, status, body })
        this.#find(url, id)?.answer(status, body)
        return undefined
      },
      checkpoint: (id, payload) => this.#reported(url, id, registered)?.checkpoint(payload),
      append: (id, payload) => this.#reported(url, id, registered)?.append(payload),
      unreadable: (id, problem) => this.#find(url, id)?.fail(problem),
      drained: () => onRoomChange(url),
      close: () => runner.lose(registered),
    }
  }

  /** Announces the shutdown to every runner. Results are still accepted. */
  drain(): void {
    if (this.isDraining) return
    this.isDraining = true
    for (const { sockets } of this.#runners.values()) for (const { socket } of sockets) socket.send('drain', '')
  }

  close(): Promise<void> {
    return this.#pending.close(this.#options.closeGraceMs)
  }

  /** Finds the call with the id; only the runner that it was sent to may answer it. */
  #find(url: string, id: string): Call | undefined {
    const call = this.#pending.get(id)
    return call?.url === url ? call : undefined
  }

  /** The call that a runner reports on through the socket. A call that the engine does not have is cancelled. */
  #reported(url: string, id: string, registered: RegisteredSocket): Call | undefined {
    const call = this.#find(url, id)
    if (!call) registered.socket.send('invoke.cancel', id)
    // The call's own socket may be dead without the engine having noticed; this one is alive.
    call?.moveTo(registered)
    return call
  }

  #isForeign(id: string): boolean {
    return this.#options.onForeignResult !== undefined && !id.startsWith(this.#idPrefix)
  }

  #newRunner(url: string): ConnectedRunner {
    const { clock, lostGraceMs: graceMs } = this.#options
    return new ConnectedRunner({
      clock,
      graceMs,
      find: id => this.#find(url, id),
      isForeign: id => this.#isForeign(id),
      onDisconnected: () => {
        this.#options.onPresence(url, false)
        this.#options.onRoomChange(url)
      },
      onEmpty: () => this.#runners.delete(url),
    })
  }
}
