// The Connect transport: an invoke is a frame on a socket that the runner opened (contract §4.3, decisions
// "Connect"). The drive service calls it once per pass, http/connect brings the sockets.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../ports/clock.ts'
import type { Connections, Presence, RunnerSocket, Session, SessionOptions } from '../../ports/connections.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'
import { ENGINE_CLOSING, PendingCalls } from '../transport/pending-calls.ts'
import { Call } from './call.ts'
import { ConnectedRunner } from './runner.ts'

/** A result that came on a socket of the runner at `url`, of a call that is not known here. */
export interface ForeignResult {
  url: string
  id: string
  status: number
  body: string
}

export interface ConnectTransportOptions {
  clock: Clock
  /** How long the invokes of a lost socket wait for their runner. */
  lostGraceMs?: number
  /** How long `close` waits for the calls under way. */
  closeGraceMs?: number
  /** Told when a runner has its first socket, and when it has none any more. */
  onPresence?: (url: string, isHere: boolean) => void
  /** Given results of calls that another engine may hold; resolves when they may be acknowledged. */
  onForeignResult?: (result: ForeignResult) => Promise<void> | undefined
  /** Told when a runner may have room for more, or has lost its last socket. */
  onRoomChange?: (url: string) => void
}

const LOST_GRACE_MS = 5000
const CLOSE_GRACE_MS = 1000

export class ConnectTransport implements Transport, Connections, Presence {
  isDraining = false
  readonly #options: Required<Omit<ConnectTransportOptions, 'onForeignResult'>> &
    Pick<ConnectTransportOptions, 'onForeignResult'>
  /** By URL: those with a socket, or with invokes that wait for one. */
  readonly #runners = new Map<string, ConnectedRunner>()
  readonly #underWay = new PendingCalls<string, Call>()
  /** Tells processes apart: a result may come late, after a restart. */
  readonly #idPrefix = `inv_${randomBytes(6).toString('hex')}`
  #idCount = 0
  #closed: Promise<void> | undefined

  constructor({
    clock,
    lostGraceMs = LOST_GRACE_MS,
    closeGraceMs = CLOSE_GRACE_MS,
    onPresence = () => {},
    onRoomChange = () => {},
    onForeignResult,
  }: ConnectTransportOptions) {
    this.#options = {
      clock,
      lostGraceMs,
      closeGraceMs,
      onPresence,
      onRoomChange,
      ...(onForeignResult && { onForeignResult }),
    }
  }

  /** `body` is a JSON object: it becomes the frame's payload, with the deadline added. */
  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    const runner = this.#runners.get(call.url)
    if (this.#closed || !runner || runner.sessions.length === 0) {
      const message = this.#closed ? ENGINE_CLOSING : 'the runner is not connected'
      return Promise.resolve({ kind: 'refused', message })
    }
    const session = runner.pick()
    if (!session) {
      return Promise.resolve({ kind: 'refused', message: 'there is no room on the runner', isFull: true })
    }
    const id = `${this.#idPrefix}${(++this.#idCount).toString(36)}`
    return new Promise(resolve => {
      const onReply = (reply: InvokeReply) => {
        this.#underWay.delete(id)
        resolve(reply)
      }
      const sent = new Call({ id, call, runner, onReply })
      this.#underWay.add(id, sent)
      sent.send(session)
    })
  }

  /** Registered sockets, of all runners. */
  get size(): number {
    let size = 0
    for (const { sessions } of this.#runners.values()) size += sessions.length
    return size
  }

  reaches(url: string): boolean {
    return (this.#runners.get(url)?.sessions.length ?? 0) > 0
  }

  /** How many invokes the runner would take at once; undefined when it has no bound. */
  room(url: string): number | undefined {
    const runner = this.#runners.get(url)
    return runner ? runner.room : 0
  }

  /** Whether the runner was sent such a call, and there is no reply yet. */
  holds(url: string, id: string): boolean {
    return this.#runners.get(url)?.find(id) !== undefined
  }

  /** A result that another engine was sent. */
  take({ url, id, status, body }: ForeignResult): void {
    this.#runners.get(url)?.find(id)?.answered(status, body)
  }

  /** The URLs of those with a socket. */
  get connected(): string[] {
    return [...this.#runners].flatMap(([url, { sessions }]) => (sessions.length > 0 ? url : []))
  }

  lastSeenAt(url: string): number | undefined {
    const sessions = this.#runners.get(url)?.sessions ?? []
    return sessions.length === 0 ? undefined : Math.max(...sessions.map(({ socket }) => socket.lastSeenAt))
  }

  open(socket: RunnerSocket, options: SessionOptions): Session {
    const { url } = options
    const runner = this.#runners.get(url) ?? this.#newRunner(url)
    this.#runners.set(url, runner)
    const isFirst = runner.sessions.length === 0
    const session = runner.open(socket, options)
    if (isFirst) this.#options.onPresence(url, true)
    this.#options.onRoomChange(url)
    return session
  }

  /** Tells every runner that the engine shuts down. Results are still taken. */
  drain(): void {
    if (this.isDraining) return
    this.isDraining = true
    for (const { sessions } of this.#runners.values())
      for (const { socket } of sessions) socket.send('drain', '')
  }

  close(): Promise<void> {
    this.#closed ??= this.#underWay.drain(this.#options.closeGraceMs)
    return this.#closed
  }

  #newRunner(url: string): ConnectedRunner {
    const { clock, lostGraceMs: graceMs } = this.#options
    const runner = new ConnectedRunner({
      clock,
      graceMs,
      find: id => this.#underWay.get(id),
      isForeign: id => this.#options.onForeignResult !== undefined && !id.startsWith(this.#idPrefix),
      onStray: (id, status, body) => this.#options.onForeignResult?.({ url, id, status, body }),
      onRoom: () => this.#options.onRoomChange(url),
      onAway: () => this.#options.onPresence(url, false),
      onEmpty: () => {
        if (this.#runners.get(url) === runner) this.#runners.delete(url)
      },
    })
    return runner
  }
}
