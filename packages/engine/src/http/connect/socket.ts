// One WebSocket as the hub and the Connect transport use it: frames of one tick are written together, what is unread
// is bounded, and silence is counted.

import type { Duplex } from 'node:stream'
import { CLOSE_CODES, CONNECT_HEARTBEAT_MS, type FrameType } from '@perdure/protocol'
import type { WebSocket } from 'ws'
import type { Clock } from '../../ports/clock.ts'
import type { RunnerSocket } from '../../ports/connections.ts'
import { writeFrame } from './frames.ts'
import { ANSWER_MS, type ConnectLimits, SILENT_BEATS_MAX } from './limits.ts'

export interface ConnectSocketOptions {
  ws: WebSocket
  /** What is under the WebSocket. */
  stream: Duplex
  clock: Clock
  limits: ConnectLimits
  /** Called once, when nothing more will be sent or taken: at once when it is closed from here. */
  onOver(): void
}

export class ConnectSocket implements RunnerSocket {
  readonly #options: ConnectSocketOptions
  lastSeenAt: number
  #silentBeats = 0
  /** How long it had been silent at the first of them. */
  #silentBeforeMs = 0
  #stopCut: (() => void) | undefined
  #isOver = false

  constructor(options: ConnectSocketOptions) {
    this.#options = options
    this.lastSeenAt = options.clock.now()
    const { ws } = options
    const seen = () => this.seen()
    ws.on('ping', seen).on('pong', seen)
    // What is wrong with a frame, or a connection that was reset: `close` follows.
    ws.on('error', () => {})
    ws.on('close', () => this.#end())
  }

  /** Whether it is closed or closing. */
  get isOver(): boolean {
    return this.#isOver
  }

  get isWritable(): boolean {
    return !this.#isOver && this.#options.ws.bufferedAmount < this.#options.limits.unreadHighBytes
  }

  /** The peer lives. */
  seen(): void {
    this.lastSeenAt = this.#options.clock.now()
    this.#silentBeats = 0
    this.#stopCut?.()
    this.#stopCut = undefined
  }

  send(type: FrameType, id: string, payload?: string): void {
    if (this.#isOver) return
    const { ws, stream, limits } = this.#options
    if (ws.bufferedAmount > limits.unreadBytesMax) {
      this.close(CLOSE_CODES.heartbeat, 'it does not read')
      return
    }
    corkForThisTick(stream)
    ws.send(writeFrame(type, id, payload))
  }

  /**
   * Asks for a sign of life; cuts the socket when it gave none for too long. Silence is counted in beats, so that a clock
   * that leaps cuts nobody; only the few that are silent at the last beat have a timer.
   */
  beat(id: string): void {
    const { ws, clock } = this.#options
    const now = clock.now()
    if (++this.#silentBeats === 1)
      this.#silentBeforeMs = Math.min(CONNECT_HEARTBEAT_MS, now - this.lastSeenAt)
    ws.ping()
    this.send('heartbeat', id)
    if (this.#silentBeats < SILENT_BEATS_MAX || this.#isOver) return
    const leftMs = CONNECT_HEARTBEAT_MS - this.#silentBeforeMs + ANSWER_MS
    this.#stopCut ??= clock.at(now + leftMs, () => this.close(CLOSE_CODES.heartbeat, 'silent for too long'))
  }

  pause(): void {
    if (!this.#isOver) this.#options.ws.pause()
  }

  resume(): void {
    this.#options.ws.resume()
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return
    // Destroyed when the peer does not answer in time.
    this.#options.ws.close(code, reason)
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopCut?.()
    this.#options.onOver()
  }
}

/** Sent at once when it is gathered: a batch of commits answered by a dozen or two invokes. */
const CORKED_BYTES_MAX = 8192

let corked: Duplex[] = []

/**
 * One system call for what is sent to the socket before the event loop comes round, unless that is much: then the other
 * end shall begin with it while we are still busy with the rest.
 */
function corkForThisTick(stream: Duplex): void {
  if (stream.writableCorked > 0) {
    if (stream.writableLength < CORKED_BYTES_MAX) return
    stream.uncork()
    stream.cork()
    return
  }
  stream.cork()
  if (corked.push(stream) === 1) setImmediate(uncorkAll)
}

function uncorkAll(): void {
  const streams = corked
  corked = []
  for (const stream of streams) stream.uncork()
}
