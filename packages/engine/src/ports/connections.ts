// The Connections port: between the sockets of Connect runners (http/connect, which reads frames) and the invokes on them
// (adapters/connect). docs/wire-protocol.md#connect describes the frames.

import type { FrameType } from '@perdure/protocol'

/** A runner's socket, as the transport uses it. */
export interface RunnerSocket {
  /** When the runner last sent anything, epoch ms. */
  readonly lastSeenAt: number
  /** When the runner last gave a sign of life, on the socket or by a heartbeat, by the monotonic clock. */
  readonly heardAt: number
  /**
   * Whether the socket takes invokes: false while the runner has too much unread data, while its event loop is blocked, and
   * while it does not answer. `RunnerConnection.drained` follows.
   */
  readonly isWritable: boolean
  /** Sends a frame; `payload` is JSON text. Does nothing once the socket closes. */
  send(type: FrameType, id: string, payload?: string): void
  close(code: number, reason: string): void
  /** Requests a sign of life. */
  ping(): void
  /** Marks the runner as not answering: it takes no invokes until it answers. */
  doubt(): void
  /** Closes the socket of a runner that was silent for too long. */
  giveUp(): void
  /**
   * The runner's process lives although its event loop is blocked: another thread sends heartbeats. `step`: the step that began
   * last.
   */
  beat(step?: string): void
  /** Why the runner does not answer, and the remedy; undefined if it is not silent. */
  readonly silence: string | undefined
}

/** The members of a `runner.register` frame that concern its socket. */
interface ConnectionTerms {
  /** Maximum invokes under way on all sockets of the runner; absent: no bound. */
  maxConcurrency?: number | undefined
  /** The runner is about to close this socket and takes no more invokes on it. */
  leaving?: boolean | undefined
  /** Invokes of earlier sockets that the runner still works on, or whose results were not acknowledged. */
  underWay?: readonly string[] | undefined
}

export interface ConnectionOptions extends ConnectionTerms {
  /** The runner's `conn://` URL. */
  url: string
  /** Whether the runner has its own id, so that it can come back on another socket. */
  isNamed: boolean
  /** Identifies the socket over its reconnects: a new socket replaces the earlier one of the same instance. */
  instance?: string | undefined
  /** Whether the runner's process sends heartbeats outside the socket while its event loop is blocked. */
  beats?: boolean | undefined
}

/** A registered socket. The methods receive the runner's messages. */
export interface RunnerConnection {
  /** The runner registered again on the socket. */
  renew(terms: ConnectionTerms): void
  /**
   * The result of an invoke, its body unchanged. Ignored when the invoke is over or belongs to another runner. The caller
   * acknowledges the result at once, or, if a promise is returned (another engine may wait for the result), when it resolves.
   */
  result(id: string, status: number, body: string): Promise<void> | undefined
  /** The payload of an `invoke.checkpoint`, unchanged. If the invoke is over, the runner gets an `invoke.cancel`. */
  checkpoint(id: string, payload: string): void
  /** The payload of an `invoke.stream`, likewise. */
  append(id: string, payload: string): void
  /** The result or checkpoint of this invoke cannot be read; `problem` is the reason. */
  unreadable(id: string, problem: string): void
  /** The runner has read everything that was sent. */
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
  /** Whether the engine shuts down: no more sockets may register. */
  readonly isDraining: boolean
  /** Adds a socket for invokes of the runner. */
  open(socket: RunnerSocket, options: ConnectionOptions): RunnerConnection
  /** The process with sockets of these instances lives, although it may be silent on the sockets. */
  beat(namespace: string, beat: Beat): void
}

/** Which Connect runners are connected, for routing and listings. */
export interface Presence {
  /** Whether the runner has a socket. */
  reaches(url: string): boolean
  /** When the runner last sent anything on any of its sockets, epoch ms; undefined without a socket. */
  lastSeenAt(url: string): number | undefined
}
