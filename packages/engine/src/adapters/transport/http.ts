// The HTTP transport: an invoke is a POST to the runner's URL (docs/wire-protocol.md#invoke). The driver calls it
// once per pass, so it is the hot path of every run on an HTTP runner.

import { PROTOCOL_HEADER, PROTOCOL_VERSION, SIGNATURE_HEADER, signBody, signFor } from '@perdure/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { MessageMemory } from '../../ports/message-memory.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'
import { runnerConnector } from './connector.ts'
import { Exchange } from './exchange.ts'
import { HttpCalls } from './http-calls.ts'
import { ENGINE_CLOSING } from './pending-calls.ts'
import { CONNECT_TIMEOUT_MS, type PoolLimits } from './pools.ts'
import { Silence } from './silence.ts'
import { TargetCache } from './target.ts'

export interface HttpTransportOptions extends Partial<PoolLimits> {
  connectTimeoutMs?: number
  clock: Clock
  /** Bounds large answers. Without it they are unbounded. */
  memory?: MessageMemory
  /** Keys that sign the invokes: none, one, or two during a rotation. */
  signingKeys: readonly string[]
  /** How long `close` waits for the pending calls. */
  closeGraceMs?: number
}

const DEFAULT_LIMITS: PoolLimits = {
  // More than the passes that an engine has under way: runners of several namespaces may share an origin, and the passes of one
  // must not wait for a connection held by a hanging pass of another.
  connectionsMax: 4096,
  poolsMax: 256,
  idleMs: 60_000,
}

const FIXED_HEADERS = ['content-type', 'application/json', PROTOCOL_HEADER, String(PROTOCOL_VERSION)]

export class HttpTransport implements Transport {
  readonly #clock: Clock
  readonly #signingKeys: readonly string[]
  readonly #targets = new TargetCache()
  readonly #calls: HttpCalls
  readonly #silence: Silence
  readonly #memory: MessageMemory | undefined

  constructor(options: HttpTransportOptions) {
    const { clock, signingKeys, memory, connectTimeoutMs = CONNECT_TIMEOUT_MS, ...limits } = options
    this.#clock = clock
    this.#signingKeys = signingKeys
    this.#memory = memory
    // Open connections may be dead when the machine returns.
    this.#silence = new Silence(origin => this.#calls.pools.replace(origin))
    const connect = runnerConnector(connectTimeoutMs, origin => this.#silence.unanswered(origin))
    this.#calls = new HttpCalls({ ...DEFAULT_LIMITS, ...limits, connect })
  }

  /** Open pools; for tests of their bound. */
  get poolCount(): number {
    return this.#calls.pools.size
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    if (this.#calls.isClosing) return refused(ENGINE_CLOSING)
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') return refused(target)
    // Encoded once, for the signature and for the request.
    const body = Buffer.from(call.body)
    const request = { headers: this.#headers(body, call.recipient), body }
    const watch = { silence: this.#silence, origin: target.origin, memory: this.#memory }
    return this.#calls.post(target, request, events => new Exchange(call, events, watch))
  }

  /** False while the runner's machine gives no sign of life. */
  reaches(url: string): boolean {
    const target = this.#targets.get(url)
    return typeof target === 'string' || !this.#silence.isSilent(target.origin)
  }

  close(): Promise<void> {
    return this.#calls.close().finally(() => this.#silence.close())
  }

  /** Names and values in turn, the form that undici takes without converting it. */
  #headers(body: Buffer, recipient: string | undefined): string[] {
    const signed = { keys: this.#signingKeys, body, nowMs: this.#clock.now() }
    const signature = recipient === undefined ? signBody(signed) : signFor({ ...signed, purpose: 'invoke', recipient })
    return [...FIXED_HEADERS, SIGNATURE_HEADER, signature]
  }
}

function refused(message: string): Promise<InvokeReply> {
  return Promise.resolve({ kind: 'refused', message })
}
