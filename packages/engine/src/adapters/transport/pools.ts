// Connection pools, one per origin, bounded in number and in connections. The HTTP transport and the webhook sender each
// have their own.

import { type buildConnector, Pool } from 'undici'

export interface PoolLimits {
  /** Most connections to one origin; further calls wait for a free one. */
  connectionsMax: number
  /** Most idle pools that are kept. Pools in use are bounded by the calls under way. */
  poolsMax: number
  /** How long a pool may be idle before it is closed. */
  idleMs: number
}

/** How long connecting may take. */
export const CONNECT_TIMEOUT_MS = 10_000

/** An origin's pool, and how many calls use it. */
export interface OriginPool {
  readonly pool: Pool
  /** Calls without a reply. */
  calls: number
  /** Calls that wait for a connection. */
  waiting: number
  idleSince: number
}

export class Pools {
  readonly #limits: PoolLimits
  readonly #connect: buildConnector.connector
  readonly #byOrigin = new Map<string, OriginPool>()
  readonly #sweeper: NodeJS.Timeout

  /** `connect` opens each connection; it decides how long that may take, and which addresses are allowed. */
  constructor(limits: PoolLimits, connect: buildConnector.connector) {
    this.#limits = limits
    this.#connect = connect
    this.#sweeper = setInterval(() => this.#sweep(), Math.ceil(limits.idleMs / 2))
    // It only frees resources, so it does not need to keep the process alive.
    this.#sweeper.unref()
  }

  get size(): number {
    return this.#byOrigin.size
  }

  /** The pool of an origin, counted as in use until it is released. */
  acquire(origin: string): OriginPool {
    const entry = this.#byOrigin.get(origin) ?? this.#open(origin)
    entry.calls++
    entry.waiting++
    return entry
  }

  release(entry: OriginPool): void {
    if (--entry.calls === 0) entry.idleSince = performance.now()
  }

  /** Opens new connections from now on. Calls under way keep theirs. */
  replace(origin: string): void {
    const entry = this.#byOrigin.get(origin)
    if (entry) this.#drop(origin, entry)
  }

  /** Closes every connection at once. */
  async destroy(): Promise<void> {
    clearInterval(this.#sweeper)
    const entries = [...this.#byOrigin.values()]
    this.#byOrigin.clear()
    await Promise.all(entries.map(({ pool }) => pool.destroy()))
  }

  #open(origin: string): OriginPool {
    if (this.#byOrigin.size >= this.#limits.poolsMax) this.#closeLongestIdle()
    const pool = new Pool(origin, {
      connections: this.#limits.connectionsMax,
      pipelining: 1,
      connect: (options, callback) => {
        // undici would replace each connection that an aborted call destroyed, although no call needs one.
        if (entry.waiting > 0) this.#connect(options, callback)
        else queueMicrotask(() => callback(new Error('no call needs a connection'), null))
      },
      // Each call has its own deadline; undici's would end a long invoke after 5 minutes.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const entry: OriginPool = { pool, calls: 0, waiting: 0, idleSince: 0 }
    this.#byOrigin.set(origin, entry)
    return entry
  }

  #closeLongestIdle(): void {
    let oldest: [string, OriginPool] | undefined
    for (const entry of this.#byOrigin) {
      if (entry[1].calls === 0 && (!oldest || entry[1].idleSince < oldest[1].idleSince)) oldest = entry
    }
    if (oldest) this.#drop(...oldest)
  }

  #sweep(): void {
    const limit = performance.now() - this.#limits.idleMs
    for (const [origin, entry] of this.#byOrigin) {
      if (entry.calls === 0 && entry.idleSince <= limit) this.#drop(origin, entry)
    }
  }

  #drop(origin: string, entry: OriginPool): void {
    this.#byOrigin.delete(origin)
    void entry.pool.close()
  }
}
