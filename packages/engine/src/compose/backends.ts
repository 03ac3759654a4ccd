// Opens the backends of an engine by its settings: the store and its clock, the queue, the limiter, and the bus to other engines
// if they share the store. Called by compose. The clients of PostgreSQL and Redis, a tenth of the engine's code, are loaded only
// if a setting names one.

import type { Logger } from 'pino'
import type { Wire } from '../adapters/bus/wire.ts'
import { WireBus } from '../adapters/bus/wire-bus.ts'
import { MemoryLimiter } from '../adapters/limiter/memory.ts'
import { MemoryQueue } from '../adapters/queue/memory.ts'
import { LANES, SharedQueue } from '../adapters/queue/shared.ts'
import { openSqliteStore } from '../adapters/sql/sqlite/store.ts'
import type { Config } from '../config/config.ts'
import { withoutPassword } from '../domain/text/service-url.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { Limiter } from '../ports/limiter.ts'
import type { Queue } from '../ports/queue.ts'
import type { Store } from '../ports/store.ts'
import { openClock } from './clock.ts'
import { closeInTime } from './close-in-time.ts'

export interface Backends {
  store: Store
  clock: Clock
  queue: Queue
  limiter: Limiter
  /** The bus to the other engines; absent if this engine is alone, or if a setting turns the bus off. */
  bus?: Bus | undefined
  /** Whether other engines may also work on the store. */
  isShared: boolean
  /** Closes the store last. */
  close(): Promise<void>
}

export interface BackendsOptions {
  config: Pick<Config, 'store' | 'queue' | 'limiter'>
  log: Logger
  /** This engine's name among the others. */
  owner: string
  /** Ports to use unchanged. */
  ports: { store?: Store; clock?: Clock; queue?: Queue; limiter?: Limiter }
}

/** Rejects if a backend cannot be reached, with nothing left open. */
export async function openBackends(options: BackendsOptions): Promise<Backends> {
  const opened: (() => Promise<void> | void | undefined)[] = []
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one()
  }
  try {
    return { ...(await openAll(options, opened)), close }
  } catch (error) {
    await closeInTime(close())
    throw error
  }
}

async function openAll(
  options: BackendsOptions,
  opened: (() => Promise<void> | void | undefined)[],
): Promise<Omit<Backends, 'close'>> {
  const { config, log, owner, ports } = options
  const { store, serverTime } = await openStore(options)
  opened.push(() => store.close())
  const wakeLanes: { wake: () => void } = { wake: () => {} }
  const { clock, stop } = await openClock({
    store,
    serverTime,
    local: ports.clock,
    log,
    onMoved: () => wakeLanes.wake(),
  })
  opened.push(stop)
  const limiter = ports.limiter ?? (await openLimiter(options, store))
  opened.push(() => limiter.close())
  const wire = ports.queue ? undefined : await wireOf(options, store)
  if (wire) opened.push(() => wire.close())
  const bus = wire && (await openBus(wire, owner, config.queue))
  if (bus) opened.push(() => bus.close())
  const queue = ports.queue ?? (bus ? new SharedQueue({ bus, clock }) : new MemoryQueue(clock))
  if (ports.queue) opened.push(() => ports.queue?.close?.())
  wakeLanes.wake = () => {
    for (const lane of LANES) queue.wake(lane, clock.now())
  }
  return { store, clock, queue, limiter, bus, isShared: serverTime !== undefined }
}

/** `serverTime`: the server's time, which all engines on the store use. */
type OpenStore = { store: Store; serverTime?: () => Promise<number> }

async function openStore({ config, log, ports }: BackendsOptions): Promise<OpenStore> {
  const address = config.store
  if (ports.store) return { store: ports.store }
  if (address.kind === 'sqlite') return { store: await openSqliteStore({ file: address.file, log }) }
  const { openPostgresStore } = await import('../adapters/sql/postgres/store.ts')
  const store = await openPostgresStore({ url: address.url, log })
  return { store, serverTime: () => store.serverTime() }
}

async function openLimiter({ config, log }: BackendsOptions, store: Store): Promise<Limiter> {
  if (config.limiter.kind === 'memory') return new MemoryLimiter()
  const { url } = config.limiter
  const prefix = `perdure:${await store.clusterName()}:`
  const { RedisLimiter } = await import('../adapters/limiter/redis.ts')
  const onError = seldom(err => log.error({ err }, 'the limiter is not available'))
  return RedisLimiter.open({ url, prefix, onError }).catch(cause => {
    throw new Error(`cannot reach the limiter at ${withoutPassword(url)}`, { cause })
  })
}

async function openBus(wire: Wire, self: string, queue: Config['queue']): Promise<WireBus> {
  try {
    return await WireBus.open({ wire, self })
  } catch (cause) {
    const at = queue?.kind === 'redis' ? `the queue at ${withoutPassword(queue.url)}` : 'the other engines'
    throw new Error(`cannot reach ${at}: ${(cause as Error).message}`, { cause })
  }
}

/** Opens the wire to other engines. An engine on SQLite is alone, but its queue may still be on a Redis. */
async function wireOf({ config, log }: BackendsOptions, store: Store): Promise<Wire | undefined> {
  const { store: address, queue } = config
  const isShared = address.kind === 'postgres'
  if (queue?.kind === 'memory' || (!queue && !isShared)) return undefined
  const channel = `perdure:${await store.clusterName()}`
  const onError = seldom(err => log.error({ err }, 'messages from other engines cannot be received'))
  if (queue?.kind === 'redis') {
    const { RedisWire } = await import('../adapters/bus/redis-wire.ts')
    return new RedisWire({ url: queue.url, channel, onError })
  }
  if (!isShared) return undefined
  const { PostgresWire } = await import('../adapters/bus/postgres-wire.ts')
  return new PostgresWire({ url: address.url, channel, onError })
}

/** A service that is unavailable keeps failing: this is logged once in this time. */
const LOG_EVERY_MS = 30_000

function seldom(log: (error: unknown) => void): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  return error => {
    const now = performance.now()
    if (now - loggedAt < LOG_EVERY_MS) return
    loggedAt = now
    log(error)
  }
}
