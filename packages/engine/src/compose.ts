// Puts the engine together. This file alone knows everybody; a test or the simulator replaces single ports.

import { randomUUID } from 'node:crypto'
import { signBody } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { systemRandom } from './adapters/clock/seeded-random.ts'
import { systemClock } from './adapters/clock/system.ts'
import { MemoryLimiter } from './adapters/limiter/memory.ts'
import { MemoryQueue } from './adapters/queue/memory.ts'
import { HttpSender } from './adapters/sender/http-sender.ts'
import { openSqliteStore } from './adapters/sql/sqlite/store.ts'
import { ConnectTransport } from './adapters/transport/connect/transport.ts'
import { HttpTransport } from './adapters/transport/http.ts'
import { RoutedTransport } from './adapters/transport/routed.ts'
import { type Config, isLoopback, refuseOpenDoor } from './config.ts'
import { IdSource } from './domain/ids.ts'
import { createApp } from './http/app.ts'
import type { Clock, Random } from './ports/clock.ts'
import type { Limiter } from './ports/limiter.ts'
import type { Queue } from './ports/queue.ts'
import type { Sender } from './ports/sender.ts'
import type { Store } from './ports/store.ts'
import type { Transport } from './ports/transport.ts'
import { AdminWatch } from './services/admin-watch.ts'
import { Announcer } from './services/announce.ts'
import { Catalog } from './services/catalog.ts'
import { Control } from './services/control.ts'
import { DELIVERY_LEASE_MS, Deliverer } from './services/deliver.ts'
import { Deliveries } from './services/deliveries.ts'
import { Driver, LEASE_MS } from './services/drive.ts'
import { DryRun } from './services/dry-run.ts'
import { Endpoints } from './services/endpoints.ts'
import { Explain } from './services/explain.ts'
import { filterLog } from './services/filter-log.ts'
import { Health } from './services/health.ts'
import { Inbound } from './services/inbound.ts'
import { Ingest } from './services/ingest.ts'
import { KeyRing } from './services/keys.ts'
import { type LaneDeps, LaneLoop } from './services/lane.ts'
import { LeaseKeeper } from './services/leases.ts'
import { Live } from './services/live.ts'
import { Namespaces } from './services/namespaces.ts'
import { Receivers } from './services/receivers.ts'
import { Registry } from './services/registry.ts'
import { reseal } from './services/reseal.ts'
import { RunnerHealth } from './services/runner-health.ts'
import { TIMER_LEASE_MS, Timers } from './services/timers.ts'
import { Vault } from './services/vault.ts'

/** How many things one engine has under way at once. */
export interface Bounds {
  passesMax: number
  deliveriesMax: number
  timersMax: number
}

const BOUNDS: Bounds = { passesMax: 1000, deliveriesMax: 256, timersMax: 256 }

export interface Ports {
  clock: Clock
  random: Random
  store: Store
  queue: Queue
  limiter: Limiter
  transport: Transport
  sender: Sender
}

export interface Engine {
  /** The HTTP interface, not listening yet. */
  app: FastifyInstance
  store: Store
  /** The API keys that count now. */
  keys: Pick<KeyRing, 'open' | 'size'>
  /** Starts to claim and drive. */
  start(): void
  /**
   * How many passes, deliveries and timers are under way, and whether a lane looks for more: at 0 and false nothing
   * happens until something arrives or falls due.
   */
  readonly activity: { underWay: number; isLooking: boolean }
  /**
   * Stops in order: readiness turns 503, nothing more is claimed, passes under way finish or are given back within
   * the drain timeout, then the interface and the store close. No run is ended by it.
   */
  stop(): Promise<void>
}

export async function createEngine(
  config: Config,
  log: Logger,
  ports: Partial<Ports> = {},
  bounds: Bounds = BOUNDS,
): Promise<Engine> {
  const clock = ports.clock ?? systemClock
  const random = ports.random ?? systemRandom
  const { signingKeys } = config
  const store = ports.store ?? (await openSqliteStore({ file: config.storeFile, log }))
  const queue = ports.queue ?? new MemoryQueue(clock)
  const limiter = ports.limiter ?? new MemoryLimiter()
  const connect = new ConnectTransport({ clock })
  const transport =
    ports.transport ?? new RoutedTransport({ http: new HttpTransport({ clock, signingKeys }), connect })
  const sender = ports.sender ?? newSender(config, clock)

  const owner = `engine_${randomUUID()}`
  // The store is this process's alone, so leases of others are those of a process that died.
  await store.releaseOthers(owner, clock.now())
  const catalog = await Catalog.load(store, { deliveryAttemptsMax: config.webhookScheduleMs.length + 1 })
  const vault = new Vault(config.encryptionKeys)
  const keys = new KeyRing({ fixed: config.apiKeys, loopback: isLoopback(config.host) })
  const namespaces = new Namespaces(catalog)
  const adminWatch = new AdminWatch({ admin: store.admin, keys, namespaces, clock, log })
  try {
    await store.admin.addNamespaces(namespacesOf(config), clock.now())
    await adminWatch.look()
    catalog.apply(await reseal(store, vault, clock.now()))
    refuseOpenDoor(config, keys)
  } catch (error) {
    await store.close()
    throw error
  }
  const live = new Live()
  const announcer = new Announcer({ queue, live, store })
  const ids = new IdSource(() => random.next())
  const health = new RunnerHealth(clock)
  const report = filterLog(clock, log)
  const shared = { report, store, limiter, catalog, announcer, clock, random, log, health, ids, owner }

  const { runnerStaleAfterMs: staleAfterMs } = config
  const registry = new Registry({ ...shared, presence: connect, staleAfterMs, signingKeys })
  await registry.forgetLeftovers()
  const driver = new Driver({
    ...shared,
    transport,
    passesMax: bounds.passesMax,
    invokeTimeoutMs: config.invokeTimeoutMs,
    isLive: runner => registry.isLive(runner),
  })
  announcer.onInterrupt(runId => driver.interrupt(runId))
  const deliverer = new Deliverer({
    ...shared,
    sender,
    vault,
    scheduleMs: config.webhookScheduleMs,
    deliveriesMax: bounds.deliveriesMax,
    onRoom: () => queue.wake('deliveries', clock.now()),
  })
  const timers = new Timers({ ...shared, timersMax: bounds.timersMax })
  const lanes = lanesOf({ ...shared, queue, driver, deliverer, timers })
  const leases = new LeaseKeeper({
    store,
    clock,
    driver,
    owner,
    onError: err => log.error({ err }, 'leases not extended'),
  })
  const readiness = new Health({ store, queue, log })
  const ingest = new Ingest({ ...shared, driver })
  const dryRun = new DryRun(shared)
  const explain = new Explain({
    ...shared,
    isLive: runner => registry.isLive(runner),
    passOf: runId => driver.passOf(runId),
  })
  const app = createApp({
    store,
    ingest,
    dryRun: (namespace, event) => dryRun.send(namespace, event),
    explain: (namespace, runId) => explain.explain(namespace, runId),
    registry,
    control: new Control({
      ...shared,
      bulkReplayLimit: config.bulkReplayLimit,
      assertActive: namespace => namespaces.assertActive(namespace),
      interrupt: runId => driver.interrupt(runId),
    }),
    endpoints: new Endpoints({ ...shared, vault }),
    deliveries: new Deliveries({ ...shared, attemptsMax: config.webhookScheduleMs.length + 1 }),
    receivers: new Receivers({ ...shared, vault }),
    inbound: new Inbound({ ...shared, vault, ingest }),
    live,
    readiness: () => readiness.check(),
    connections: connect,
    sign: body => signBody({ keys: signingKeys, body, nowMs: clock.now() }),
    keys,
    corsOrigins: config.corsOrigins,
    clock,
    log,
  })

  let stopping: Promise<void> | undefined
  const stop = async () => {
    readiness.drain()
    connect.drain()
    await Promise.all(lanes.map(lane => lane.stop()))
    const deadline = new AbortController()
    const cancel = clock.at(clock.now() + config.drainTimeoutMs, () => deadline.abort())
    await Promise.all([driver.drain(deadline.signal), deliverer.drain(), timers.drain()])
    cancel()
    leases.stop()
    adminWatch.stop()
    await app.close()
    await Promise.all([transport.close(), sender.close(), limiter.close()])
    await store.close()
  }
  return {
    app,
    store,
    keys,
    get activity() {
      const underWay = driver.slots.taken + deliverer.slots.taken + timers.slots.taken
      return { underWay, isLooking: lanes.some(lane => !lane.waits) }
    },
    start() {
      for (const lane of lanes) lane.start()
      leases.start()
      adminWatch.start()
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

function newSender({ webhookAllowPrivate, webhookAllow }: Config, clock: Clock): Sender {
  return new HttpSender({ clock, allowPrivate: webhookAllowPrivate, allowList: webhookAllow })
}

/** One loop for each kind of work that waits in the store. */
function lanesOf(
  deps: Omit<LaneDeps<unknown>, 'lane' | 'leaseMs' | 'slots' | 'claim' | 'take'> & {
    driver: Driver
    deliverer: Deliverer
    timers: Timers
  },
) {
  const { store, driver, deliverer, timers } = deps
  return [
    new LaneLoop({
      ...deps,
      lane: 'runs',
      leaseMs: LEASE_MS,
      slots: driver.slots,
      claim: claim => store.claimRuns(claim),
      take: loaded => driver.take(loaded),
    }),
    new LaneLoop({
      ...deps,
      lane: 'deliveries',
      leaseMs: DELIVERY_LEASE_MS,
      slots: deliverer.slots,
      holdsBack: true,
      claim: claim => deliverer.claim(claim),
      take: delivery => deliverer.take(delivery),
    }),
    new LaneLoop({
      ...deps,
      lane: 'timers',
      leaseMs: TIMER_LEASE_MS,
      slots: timers.slots,
      claim: claim => store.claimTimers(claim),
      take: row => timers.take(row),
    }),
  ]
}

/** Those that are known from the start: the one of an open engine, and those of fixed keys. */
function namespacesOf({ apiKeys }: Config): string[] {
  return [...new Set(['default', ...apiKeys.map(({ namespace }) => namespace)])]
}
