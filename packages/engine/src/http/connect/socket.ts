// One WebSocket, as the hub and the Connect transport use it: writes the frames of one tick together, bounds the unread bytes,
// and closes a silent socket.

import type { Duplex } from 'node:stream'
import { CLOSE_CODES, CONNECT_HEARTBEAT_MS, type FrameType } from '@perdure/protocol'
import type { WebSocket } from 'ws'
import type { Clock } from '../../ports/clock.ts'
import type { RunnerSocket } from '../../ports/connections.ts'
import { writeFrame } from './frames.ts'
import { type ConnectLimits, HEARTBEAT_ANSWER_MS, UNANSWERED_HEARTBEATS_MAX } from './limits.ts'

export interface ConnectSocketOptions {
  ws: WebSocket
  /** The TCP or TLS stream below the WebSocket. */
  stream: Duplex
  clock: Clock
  limits: ConnectLimits
  /** Called once, when nothing more is sent or received; immediately if this side closes. */
  onOver(): void
  /** Called when the runner's event loop is free again. */
  onUnblocked(): void
}

export class ConnectSocket implements RunnerSocket {
  readonly #options: ConnectSocketOptions
  lastSeenAt: number
  /** The same by the monotonic clock. */
  #seenAt: number
  #heardAt: number
  /** This side is not reading: the runner may give signs of life that are not seen. */
  #isPaused = false
  #unansweredHeartbeats = 0
  /** How long the runner had been silent at the first unanswered heartbeat. */
  #silentBeforeMs = 0
  #cancelClose: (() => void) | undefined
  #isOver = false
  /**
   * The time since which the runner has not read its socket, by the monotonic clock, while another thread of its process sends
   * heartbeats.
   */
  #blockedAt: number | undefined
  #isDoubted = false
  /** How long the runner had been silent when the socket was closed for that reason. */
  #silentMs: number | undefined
  #begunStep: string | undefined
  /** Characters of the frames under way that are large by themselves: one may take long on a slow network. */
  #largeBytes = 0

  constructor(options: ConnectSocketOptions) {
    this.#options = options
    this.lastSeenAt = options.clock.now()
    this.#seenAt = options.clock.elapsed()
    this.#heardAt = this.#seenAt
    const { ws } = options
    const seen = () => this.seen()
    ws.on('ping', seen).on('pong', seen)
    // A malformed frame or a reset connection: `close` follows.
    ws.on('error', () => {})
    ws.on('close', () => this.#end())
  }

  get heardAt(): number {
    return this.#isPaused ? this.#options.clock.elapsed() : this.#heardAt
  }

  /** Whether it is closed or closing. */
  get isOver(): boolean {
    return this.#isOver
  }

  get isWritable(): boolean {
    const { ws, limits } = this.#options
    const answers = this.#blockedAt === undefined && !this.#isDoubted
    return !this.#isOver && answers && ws.bufferedAmount < limits.unreadHighBytes
  }

  /** Called when the runner gave a sign of life. */
  seen(): void {
    const { clock } = this.#options
    this.lastSeenAt = clock.now()
    this.#seenAt = clock.elapsed()
    this.#lives()
    if (this.#blockedAt === undefined && !this.#isDoubted) return
    this.#blockedAt = undefined
    this.#isDoubted = false
    this.#options.onUnblocked()
  }

  #lives(): void {
    this.#heardAt = this.#options.clock.elapsed()
    this.#unansweredHeartbeats = 0
    this.#cancelClose?.()
    this.#cancelClose = undefined
  }

  ping(): void {
    if (!this.#isOver) this.#options.ws.ping()
  }

  doubt(): void {
    this.#isDoubted = true
  }

  giveUp(): void {
    this.#silentMs = this.#options.clock.elapsed() - this.heardAt
    this.close(CLOSE_CODES.heartbeat, 'silent for too long')
  }

  beat(step?: string): void {
    this.#begunStep = step
    this.#blockedAt ??= this.#seenAt
    this.#lives()
  }

  get silence(): string | undefined {
    const { clock } = this.#options
    if (this.#blockedAt !== undefined) {
      const seconds = Math.round((clock.elapsed() - this.#blockedAt) / 1000)
      const since = this.#begunStep === undefined ? '' : `, since step "${this.#begunStep}" began`
      return `the event loop of its runner has been blocked for ${seconds} s${since}: ${CPU_BOUND}`
    }
    if (this.#silentMs === undefined) return undefined
    return `its runner was silent for ${Math.round(this.#silentMs / 1000)} s: its machine is down, or its event loop is blocked; ${CPU_BOUND}`
  }

  send(type: FrameType, id: string, payload?: string): void {
    if (this.#isOver) return
    const { ws, stream, limits } = this.#options
    if (ws.bufferedAmount === 0) this.#largeBytes = 0
    if (ws.bufferedAmount - this.#largeBytes > limits.unreadBytesMax) {
      this.close(CLOSE_CODES.heartbeat, 'the runner does not read from the socket')
      return
    }
    const frame = writeFrame(type, id, payload)
    if (frame.length > limits.unreadHighBytes) this.#largeBytes += frame.length
    corkForThisTick(stream)
    ws.send(frame)
  }

  /**
   * Requests a sign of life, and closes the socket when there was none for too long. Silence is counted in heartbeats, so
   * a clock that leaps closes no socket; only a socket that is silent at the last heartbeat gets a timer.
   */
  heartbeat(id: string): void {
    const { ws, clock } = this.#options
    if (this.#isPaused) this.#lives()
    if (++this.#unansweredHeartbeats === 1)
      this.#silentBeforeMs = Math.min(CONNECT_HEARTBEAT_MS, clock.elapsed() - this.#seenAt)
    ws.ping()
    this.send('heartbeat', id)
    if (this.#unansweredHeartbeats < UNANSWERED_HEARTBEATS_MAX || this.#isOver) return
    const leftMs = CONNECT_HEARTBEAT_MS - this.#silentBeforeMs + HEARTBEAT_ANSWER_MS
    this.#cancelClose ??= clock.after(leftMs, () => this.giveUp())
  }

  pause(): void {
    if (this.#isOver) return
    this.#isPaused = true
    this.#options.ws.pause()
  }

  resume(): void {
    if (this.#isPaused) this.seen()
    this.#isPaused = false
    this.#options.ws.resume()
  }

  close(code: number, reason: string): void {
    if (this.#isOver) return
    // `ws` destroys the stream when the runner does not answer in time.
    this.#options.ws.close(code, reason)
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelClose?.()
    this.#options.onOver()
  }
}

const CPU_BOUND = 'CPU-bound work belongs in a worker thread'

/** When this much is gathered it is sent at once. That is a dozen or two invokes, such as those after a batch of commits. */
const CORKED_BYTES_MAX = 8192

let corked: Duplex[] = []

/**
 * Gathers the frames sent to the socket in one tick of the event loop into one system call. A large amount is sent at once, so
 * that the runner can begin while the engine is still busy with the rest.
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
