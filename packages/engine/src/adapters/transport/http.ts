// The HTTP transport: an invoke is a POST to the runner's URL (contract §2.11, §5.5, §9.2). The drive service
// calls it once per pass; it is the hot path of every run on an HTTP runner.

import { PROTOCOL_HEADER, PROTOCOL_VERSION, SIGNATURE_HEADER, signBody } from '@perdure/protocol'
import { buildConnector } from 'undici'
import type { Clock } from '../../ports/clock.ts'
import {
  type InvokeCall,
  type InvokeReply,
  RESPONSE_BYTES_MAX,
  type Transport,
} from '../../ports/transport.ts'
import { Exchange } from './exchange.ts'
import { ENGINE_CLOSING, PendingCalls } from './pending-calls.ts'
import { type PoolLimits, Pools } from './pools.ts'
import { TargetCache } from './target.ts'

/** What the transport needs, and its limits where the usual ones will not do. */
export interface HttpTransportOptions extends Partial<PoolLimits> {
  connectTimeoutMs?: number
  clock: Clock
  /** Keys that sign the invokes: none, one, or two while one is being rotated. */
  signingKeys: readonly string[]
  /** How long `close` waits for the calls under way. */
  closeGraceMs?: number
}

const DEFAULT_LIMITS: PoolLimits = {
  connectionsMax: 512,
  poolsMax: 256,
  idleMs: 60_000,
}
const CONNECT_TIMEOUT_MS = 10_000
const CLOSE_GRACE_MS = 1000

const FIXED_HEADERS = ['content-type', 'application/json', PROTOCOL_HEADER, String(PROTOCOL_VERSION)]

export class HttpTransport implements Transport {
  readonly #clock: Clock
  readonly #signingKeys: readonly string[]
  readonly #closeGraceMs: number
  readonly #pools: Pools
  readonly #targets = new TargetCache()
  readonly #pending = new PendingCalls<number, Exchange>()
  #callCount = 0
  #closed: Promise<void> | undefined

  constructor(options: HttpTransportOptions) {
    const { clock, signingKeys, closeGraceMs = CLOSE_GRACE_MS, ...limits } = options
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
    this.#clock = clock
    this.#signingKeys = signingKeys
    this.#closeGraceMs = closeGraceMs
    this.#pools = new Pools({ ...DEFAULT_LIMITS, ...limits }, buildConnector({ timeout: connectTimeoutMs }))
  }

  /** Pools open now; for tests of their bound. */
  get poolCount(): number {
    return this.#pools.size
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    if (this.#closed) return refused(ENGINE_CLOSING)
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') return refused(target)
    // Encoded once, for the signature and for the wire.
    const body = Buffer.from(call.body)
    const request = { method: 'POST', path: target.path, headers: this.#headers(body), body }
    const used = this.#pools.acquire(target.origin)
    const no = ++this.#callCount
    return new Promise(resolve => {
      const exchange = new Exchange({
        timeoutMs: call.timeoutMs,
        signal: call.signal,
        responseBytesMax: RESPONSE_BYTES_MAX,
        onWaitOver: () => {
          used.waiting--
        },
        onReply: reply => {
          this.#pools.release(used)
          this.#pending.delete(no)
          resolve(reply)
        },
      })
      this.#pending.add(no, exchange)
      used.pool.dispatch(request, exchange)
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    await this.#pending.drain(this.#closeGraceMs)
    await this.#pools.destroy()
  }

  /** Names and values in turn: the form that undici takes as it is. */
  #headers(body: Buffer): string[] {
    const signature = signBody({ keys: this.#signingKeys, body, nowMs: this.#clock.now() })
    return [...FIXED_HEADERS, SIGNATURE_HEADER, signature]
  }
}

function refused(message: string): Promise<InvokeReply> {
  return Promise.resolve({ kind: 'refused', message })
}
