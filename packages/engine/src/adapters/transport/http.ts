// The HTTP transport: an invoke is a POST to the runner's URL (docs/wire-protocol.md#invoke). The driver calls it
// once per pass, so it is the hot path of every run on an HTTP runner.

import {
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  RESPONSE_BYTES_MAX,
  SIGNATURE_HEADER,
  signBody,
} from '@perdure/protocol'
import { buildConnector } from 'undici'
import type { Clock } from '../../ports/clock.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'
import { Exchange } from './exchange.ts'
import { CLOSE_GRACE_MS, ENGINE_CLOSING, PendingCalls } from './pending-calls.ts'
import { CONNECT_TIMEOUT_MS, type PoolLimits, Pools } from './pools.ts'
import { TargetCache } from './target.ts'

export interface HttpTransportOptions extends Partial<PoolLimits> {
  connectTimeoutMs?: number
  clock: Clock
  /** Keys that sign the invokes: none, one, or two during a rotation. */
  signingKeys: readonly string[]
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number
}

const DEFAULT_LIMITS: PoolLimits = {
  connectionsMax: 512,
  poolsMax: 256,
  idleMs: 60_000,
}

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

  /** Open pools; for tests of their bound. */
  get poolCount(): number {
    return this.#pools.size
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    if (this.#closed) return refused(ENGINE_CLOSING)
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') return refused(target)
    // Encoded once, for the signature and for the request.
    const body = Buffer.from(call.body)
    const request = { method: 'POST', path: target.path, headers: this.#headers(body), body }
    const origin = this.#pools.acquire(target.origin)
    const no = ++this.#callCount
    return new Promise(resolve => {
      const exchange = new Exchange({
        timeoutMs: call.timeoutMs,
        signal: call.signal,
        responseBytesMax: RESPONSE_BYTES_MAX,
        onWaitOver: () => {
          origin.waiting--
        },
        onReply: reply => {
          this.#pools.release(origin)
          this.#pending.delete(no)
          resolve(reply)
        },
      })
      this.#pending.add(no, exchange)
      origin.pool.dispatch(request, exchange)
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

  /** Names and values in turn, the form that undici takes without converting it. */
  #headers(body: Buffer): string[] {
    const signature = signBody({ keys: this.#signingKeys, body, nowMs: this.#clock.now() })
    return [...FIXED_HEADERS, SIGNATURE_HEADER, signature]
  }
}

function refused(message: string): Promise<InvokeReply> {
  return Promise.resolve({ kind: 'refused', message })
}
