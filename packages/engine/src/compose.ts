// Puts the engine together. This file alone knows everybody; a test or the simulator replaces single ports.

import { randomUUID } from 'node:crypto'
import { signBody } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { systemRandom } from './adapters/clock/seeded-random.ts'
import { RelayedConnect } from './adapters/connect/relay/relayed-connect.ts'
import { ConnectTransport, type ForeignResult } from './adapters/connect/transport.ts'
import { PrometheusMetrics } from './adapters/metrics/prometheus.ts'
import { HttpSender } from './adapters/sender/http-sender.ts'
import { openTelemetry } from './adapters/tracing/opentelemetry.ts'
import { HttpTransport } from './adapters/transport/http.ts'
import { RoutedTransport } from './adapters/transport/routed.ts'
import { openBackends } from './backends.ts'
import { type Config, isLoopback, refuseOpenDoor } from './config.ts'
import { IdSource } from './domain/text/ids.ts'
import { createApp } from './http/app.ts'
import type { Clock, Random } from './ports/clock.ts'
import type { Limiter } from './ports/limiter.ts'
import type { Queue } from './ports/queue.ts'
import type { Sender } from './ports/sender.ts'
import type { Store } from './ports/store.ts'
import type { Transport } from './ports/transport.ts'
import { AdminWatch } from './services/admin/admin-watch.ts'
import { readGauges } from './services/admin/gauges.ts'
import { Health } from './services/admin/health.ts'
import { KeyRing } from './services/admin/keys.ts'
import { Pruner } from './services/admin/prune.ts'
import { Catalog } from './services/catalog/catalog.ts'
import { CatalogWatch } from './services/catalog/catalog-watch.ts'
import { Namespaces } from './services/catalog/namespaces.ts'
import { RunnerHealth } from './services/catalog/runner-health.ts'
import { Announcer } from './services/commit/announce.ts'
import { DryRun } from './services/event/dry-run.ts'
import { faultLog } from './services/event/fault-log.ts'
import { Ingest } from './services/event/ingest.ts'
import { TIMER_LEASE_MS, Timers } from './services/event/timers.ts'
import { Live } from './services/live/live.ts'
import { LiveShare } from './services/live/live-share.ts'
import { Driver } from './services/pass/driver.ts'
import { LeaseKeeper, RUN_LEASE_MS } from './services/pass/leases.ts'
import { Registry } from './services/registry/register.ts'
import { Control } from './services/run/control.ts'
import { Explain } from './services/run/explain.ts'
import { type LaneDeps, LaneLoop } from './services/support/lane.ts'
import { DELIVERY_LEASE_MS, Deliverer } from './services/webhook/deliver.ts'
import { Endpoints } from './services/webhook/endpoints.ts'
import { Inbound } from './services/webhook/inbound.ts'
import { Receivers } from './services/webhook/receivers.ts'
import { Deliveries } from './services/webhook/redeliver.ts'
import { reseal } from './services/webhook/reseal.ts'
import { Vault } from './services/webhook/vault.ts'

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
  const random = ports.random ?? systemRandom
  const { signingKeys } = config
  const owner = `engine_${randomUUID()}`
  const backends = await openBackends({ config, log, owner, ports })
  const { store, clock, queue, limiter, bus, isShared } = backends
  const sender = ports.sender ?? newSender(config, clock)

  // Where the store is this process's alone, leases of others are those of a process that died.
  if (!isShared) await store.releaseOthers(owner, clock.now())
  const deliveryAttemptsMax = config.webhookScheduleMs.length + 1
  const catalog = await Catalog.load(store, { deliveryAttemptsMax }, isShared)
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
    await backends.close()
    throw error
  }
  const live = new Live()
  const liveShare = bus && new LiveShare({ bus, live, store, clock })
  const metrics = new PrometheusMetrics()
  const tracing = openTelemetry()
  const announcer = new Announcer({ queue, live, store, metrics })
  const ids = new IdSource(() => random.next())
  const health = new RunnerHealth(clock)
  const report = faultLog(clock, log)
  const told = { report, log, metrics, tracing }
  const shared = { ...told, store, limiter, catalog, announcer, clock, random, health, ids, owner }

  const { runnerStaleAfterMs: staleAfterMs } = config
  const onRoomChange = (url: string) => driver.runnerRoomChanged(url, relayed?.yieldsRoom(url) ?? false)
  const onPresence = (url: string, isHere: boolean) => relayed?.presenceChanged(url, isHere)
  const onForeignResult = (result: ForeignResult) => relayed?.forwardResult(result)
  const connect = new ConnectTransport({ clock, onPresence, onRoomChange, ...(bus && { onForeignResult }) })
  const onAppReachable = (namespace: string, app: string) => void registry.ringHeld(namespace, app)
  const relayed = bus && new RelayedConnect({ bus, clock, local: connect, onAppReachable, onRoomChange })
  const http = new HttpTransport({ clock, signingKeys })
  const transport = ports.transport ?? new RoutedTransport({ http, connect: relayed ?? connect })
  const presence = relayed ?? connect
  const catalogWatch: CatalogWatch | undefined = isShared
    ? new CatalogWatch({
        ...shared,
        onArrived: onAppReachable,
        onRead: () => registry.forgetLeftovers({ staleAfterMs }),
      })
    : undefined
  if (catalogWatch) catalog.onRefresh(() => catalogWatch.look())
  const registry: Registry = new Registry({ ...shared, presence, staleAfterMs, signingKeys })
  if (!isShared) await registry.forgetLeftovers({ staleAfterMs: 0 })
  bus?.on('catalog', () => catalogWatch?.lookSoon())
  bus?.onReconnect(() => catalogWatch?.lookSoon())
  catalog.onNews(() => bus?.publish('catalog', ''))
  const driver: Driver = new Driver({
    ...shared,
    transport,
    passesMax: bounds.passesMax,
    invokeTimeoutMs: config.invokeTimeoutMs,
    isLive: runner => registry.isLive(runner),
  })
  bus?.on('interrupt', runId => driver.interrupt(runId))
  // Whoever drives it: that may be another engine.
  const interrupt = (runId: string) => {
    driver.interrupt(runId)
    bus?.publish('interrupt', runId)
  }
  announcer.onInterrupt(interrupt)
  bus?.on('recall', runId => driver.withdraw(runId))
  const recall = (runId: string) => {
    driver.withdraw(runId)
    bus?.publish('recall', runId)
  }
  const deliverer = new Deliverer({
    ...shared,
    sender,
    vault,
    scheduleMs: config.webhookScheduleMs,
    deliveriesMax: bounds.deliveriesMax,
    onRoom: () => queue.wake('deliveries', clock.now()),
  })
  const timers = new Timers({ ...shared, timersMax: bounds.timersMax })
  const lanes = lanesOf({ ...shared, isShared, queue, driver, deliverer, timers })
  const leases = new LeaseKeeper({
    store,
    clock,
    driver,
    metrics,
    owner,
    onError: err => log.error({ err }, 'leases not extended'),
  })
  const pruner = new Pruner({ store, clock, log, retention: config.retention })
  const readiness = new Health({ store, queue, limiter, clock, log })
  const ingest = new Ingest({ ...shared, driver })
  const dryRun = new DryRun(shared)
  const explain = new Explain({
    ...shared,
    isLive: runner => registry.isLive(runner),
    passOf: runId => driver.passOf(runId),
    isInLine: runId => driver.waitsForRunnerRoom(runId),
  })
  const watched = {
    store,
    clock,
    live,
    capacities: { runs: driver.capacity, deliveries: deliverer.capacity, timers: timers.capacity },
    sockets: () => connect.size,
    readiness: () => readiness.check(),
    limiterEntries: () => limiter.entries,
  }
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
      interrupt,
      recall,
    }),
    endpoints: new Endpoints({ ...shared, vault }),
    deliveries: new Deliveries({ ...shared, attemptsMax: config.webhookScheduleMs.length + 1 }),
    receivers: new Receivers({ ...shared, vault }),
    inbound: new Inbound({ ...shared, vault, ingest }),
    live,
    readiness: () => readiness.check(),
    metrics: async namespace => metrics.text(namespace, await readGauges(watched)),
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
    relayed?.leave()
    await Promise.all(lanes.map(lane => lane.stop()))
    const deadline = new AbortController()
    const cancel = clock.at(clock.now() + config.drainTimeoutMs, () => deadline.abort())
    const { signal } = deadline
    await Promise.all([driver.stop(signal), relayed?.idle(signal), deliverer.stop(), timers.stop()])
    cancel()
    await leases.stop()
    adminWatch.stop()
    await pruner.stop()
    catalogWatch?.stop()
    liveShare?.close()
    await app.close()
    await Promise.all([transport.close(), sender.close()])
    await backends.close()
  }
  return {
    app,
    store,
    keys,
    get activity() {
      const underWay = driver.capacity.inUse + deliverer.capacity.inUse + timers.capacity.inUse
      return { underWay, isLooking: lanes.some(lane => !lane.isWaiting) }
    },
    start() {
      for (const lane of lanes) lane.start()
      leases.start()
      adminWatch.start()
      pruner.start()
      catalogWatch?.start()
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
  deps: Omit<LaneDeps<unknown>, 'lane' | 'leaseMs' | 'capacity' | 'claim' | 'onClaimed'> & {
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
      leaseMs: RUN_LEASE_MS,
      capacity: driver.capacity,
      claim: claim => store.claimRuns(claim),
      onClaimed: run => driver.accept(run),
    }),
    new LaneLoop({
      ...deps,
      lane: 'deliveries',
      leaseMs: DELIVERY_LEASE_MS,
      capacity: deliverer.capacity,
      mayLeaveDueRows: true,
      claim: claim => deliverer.claim(claim),
      onClaimed: delivery => deliverer.accept(delivery),
    }),
    new LaneLoop({
      ...deps,
      lane: 'timers',
      leaseMs: TIMER_LEASE_MS,
      capacity: timers.capacity,
      claim: claim => store.claimTimers(claim),
      onClaimed: row => timers.accept(row),
    }),
  ]
}

/** Those that are known from the start: the one of an open engine, and those of fixed keys. */
function namespacesOf({ apiKeys }: Config): string[] {
  return [...new Set(['default', ...apiKeys.map(({ namespace }) => namespace)])]
}
