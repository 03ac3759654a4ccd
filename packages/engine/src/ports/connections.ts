// The Connections port: between the sockets of Connect runners (http/connect, which reads frames) and their invokes
// (adapters/connect). docs/wire-protocol.md#connect describes the frames.

import type { FrameType } from '@perdure/protocol'

/** A runner's socket, as the transport uses it. */
export interface RunnerSocket {
  /** When the runner last sent anything, epoch ms. */
  readonly lastSeenAt: number
  /** When the runner last gave a sign of life, on the socket or beside it, by the monotonic clock. */
  readonly heardAt: number
  /**
   * Whether it takes invokes: false while too much of what was sent is unread, and while the runner's event loop is blocked or it does
   * not answer. `RunnerConnection.drained` follows.
   */
  readonly isWritable: boolean
  /** Sends a frame; `payload` is JSON text. Does nothing once the socket closes. */
  send(type: FrameType, id: string, payload?: string): void
  close(code: number, reason: string): void
  /** Requests a sign of life. */
  ping(): void
  /** The runner does not answer: it takes no invokes until it does. */
  doubt(): void
  /** Closes the socket of a runner that was silent for too long. */
  giveUp(): void
  /** The runner's process lives, although its event loop is blocked: it beats from another thread. `step`: what began last. */
  beat(step?: string): void
  /** Why the runner does not answer, if it is silent; what to do against it. */
  readonly silence: string | undefined
}

/** The members of a `runner.register` frame that concern its socket. */
interface ConnectionTerms {
  /** Most invokes under way on all sockets of the runner; absent: no bound. */
  maxConcurrency?: number | undefined
  /** The runner is about to close this socket: it takes no further invokes on it. */
  leaving?: boolean | undefined
  /** Invokes of earlier sockets that the runner still works on, or whose results were not acknowledged. */
  underWay?: readonly string[] | undefined
}

export interface ConnectionOptions extends ConnectionTerms {
  /** The runner's `conn://` URL. */
  url: string
  /** Whether the runner has an id of its own, so that it can come back on another socket. */
  isNamed: boolean
  /** Identifies the socket over its reconnects: a new one replaces the earlier one of the same instance. */
  instance?: string | undefined
  /** Whether the runner's process beats beside the socket while its event loop is blocked. */
  beats?: boolean | undefined
}

/** A registered socket: receives what the runner sends. */
export interface RunnerConnection {
  /** The runner registered again on the socket. */
  renew(terms: ConnectionTerms): void
  /**
   * The result of an invoke, its body unchanged. Ignored when the invoke is over, or another runner's. The result is to be
   * acknowledged at once, or, where a promise is returned (another engine may wait for the result), when it resolves.
   */
  result(id: string, status: number, body: string): Promise<void> | undefined
  /** The payload of an `invoke.checkpoint`, unchanged. If the invoke is over, the runner gets an `invoke.cancel`. */
  checkpoint(id: string, payload: string): void
  /** The same of an `invoke.stream`. */
  append(id: string, payload: string): void
  /** The result or checkpoint of this invoke cannot be read, for the reason `problem`. */
  unreadable(id: string, problem: string): void
  /** The runner has read what was sent. */
  drained(): void
  /** The socket is closed, or no longer trusted. May be called again. */
  close(): void
}

/** A heartbeat from another thread of a runner's process. */
export interface Beat {
  readonly instances: readonly string[]
  /** The step whose callback began last. */
  readonly step?: string | undefined
}

export interface Connections {
  /** Whether the engine shuts down: no socket may register any more. */
  readonly isDraining: boolean
  /** From now on invokes of the runner also go to this socket. */
  open(socket: RunnerSocket, options: ConnectionOptions): RunnerConnection
  /** The process with sockets of these instances lives, although it may be silent on them. */
  beat(namespace: string, beat: Beat): void
}

/** Which Connect runners are connected, for routing and listings. */
export interface Presence {
  /** Whether the runner has a socket. */
  reaches(url: string): boolean
  /** When the runner last sent anything on any of its sockets, epoch ms; undefined without a socket. */
  lastSeenAt(url: string): number | undefined
}
