// The Connections port: where the sockets of Connect runners (http/connect) and their invokes (the Connect transport)
// meet. One side knows frames and sockets, the other invokes and runners.

import type { FrameType } from '@perdure/protocol'

/** A runner's socket, as the transport uses it. */
export interface RunnerSocket {
  /** When the runner was last heard of, epoch ms. */
  readonly lastSeenAt: number
  /** Whether it takes invokes: not while much of what was sent lies unread. `Session.drained` tells when it does again. */
  readonly isWritable: boolean
  /** Sends a frame; `payload` is JSON text. Nothing happens once the socket closes. */
  send(type: FrameType, id: string, payload?: string): void
  close(code: number, reason: string): void
}

/** What a registration says of its socket. */
export interface SessionTerms {
  /** Most invokes under way on it; without a bound if absent. */
  maxConcurrency?: number | undefined
  /** Invokes of earlier sockets that the runner still works on, or whose results it has not got acknowledged. */
  underWay?: readonly string[] | undefined
}

export interface SessionOptions extends SessionTerms {
  /** The runner's `conn://` URL. */
  url: string
  /** Whether the runner has an id of its own, and may so come back on another socket. */
  isNamed: boolean
  /** Names the socket over its reconnects: a new one takes the place of the earlier one of the same name. */
  instance?: string | undefined
}

/** A registered socket: what comes in on it goes here. */
export interface Session {
  /** The runner registered again on the socket. */
  renew(terms: SessionTerms): void
  /**
   * An answer, its body to the letter. Changes nothing when the invoke is over, or another runner's. One that another
   * engine may wait for is handed over: it is to be acknowledged when the promise resolves, any other at once.
   */
  result(id: string, status: number, body: string): Promise<void> | undefined
  /** The payload of an `invoke.checkpoint`, to the letter. Of an invoke that is over, the runner is told to stop. */
  checkpoint(id: string, payload: string): void
  /** What came as its result, or as a checkpoint, cannot be read. */
  unreadable(id: string, problem: string): void
  /** What was sent has been read. */
  drained(): void
  /** The socket is gone, or no longer trusted. May be called again. */
  close(): void
}

export interface Connections {
  /** Whether the engine shuts down: no socket registers any more. */
  readonly isDraining: boolean
  /** From now on invokes of the runner go to the socket too. */
  open(socket: RunnerSocket, options: SessionOptions): Session
}

/** Who is connected, for routing and listings. */
export interface Presence {
  /** Whether the runner has a socket. */
  reaches(url: string): boolean
  /** When the runner was last heard of on any of its sockets, epoch ms; undefined without one. */
  lastSeenAt(url: string): number | undefined
}
