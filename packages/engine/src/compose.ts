// Puts the engine together. This file alone knows everybody; a test or the simulator replaces single ports.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { systemRandom } from './adapters/clock/seeded-random.ts'
import { systemClock } from './adapters/clock/system.ts'
import { MemoryQueue } from './adapters/queue/memory.ts'
import { HttpSender } from './adapters/sender/http-sender.ts'
import { openSqliteStore } from './adapters/sql/sqlite/store.ts'
import { HttpTransport } from './adapters/transport/http.ts'
import type { Config } from './config.ts'
import { IdSource } from './domain/ids.ts'
import { createApp } from './http/app.ts'
import type { Clock, Random } from './ports/clock.ts'
import type { Queue } from './ports/queue.ts'
import type { Sender } from './ports/sender.ts'
import type { Store } from './ports/store.ts'
import type { Transport } from './ports/transport.ts'
import { Announcer } from './services/announce.ts'
import { Catalog } from './services/catalog.ts'
import { Control } from './services/control.ts'
import { DELIVERY_LEASE_MS, Deliverer } from './services/deliver.ts'
import { Driver, LEASE_MS } from './services/drive.ts'
import { Health } from './services/health.ts'
import { Ingest } from './services/ingest.ts'
import { KeyRing } from './services/keys.ts'
import { LaneLoop } from './services/lane.ts'
import { LeaseKeeper } from './services/leases.ts'
import { Live } from './services/live.ts'
import { Registry } from './services/registry.ts'
import { RunnerHealth } from './services/runner-health.ts'

/** How many things one engine has under way at once. */
export interface Bounds {
  passesMax: number
  deliveriesMax: number
}

const BOUNDS: Bounds = { passesMax: 1000, deliveriesMax: 256 }

export interface Ports {
  clock: Clock
  random: Random
  store: Store
  queue: Queue
  transport: Transport
  sender: Sender
}

export interface Engine {
  /** The HTTP interface, not listening yet. */
  app: FastifyInstance
  store: Store
  /** Starts to claim and drive. */
  start(): void
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
  const transport = ports.transport ?? new HttpTransport({ clock, signingKeys })
  const sender = ports.sender ?? new HttpSender({ clock, allowPrivate: config.webhookAllowPrivate })

  const owner = `engine_${randomUUID()}`
  // The store is this process's alone, so leases of others are those of a process that died.
  await store.releaseOthers(owner, clock.now())
  const catalog = await Catalog.load(store)
  const live = new Live()
  const announcer = new Announcer({ queue, live })
  const ids = new IdSource(() => random.next())
  const health = new RunnerHealth(clock)
  const shared = { store, catalog, announcer, clock, random, log, health, ids, owner }

  const registry = new Registry({ ...shared, staleAfterMs: config.runnerStaleAfterMs, signingKeys })
  const driver = new Driver({
    ...shared,
    transport,
    passesMax: bounds.passesMax,
    invokeTimeoutMs: config.invokeTimeoutMs,
    deliveryAttemptsMax: config.webhookScheduleMs.length + 1,
    isLive: runner => registry.isLive(runner),
  })
  announcer.onInterrupt(runId => driver.interrupt(runId))
  const deliverer = new Deliverer({
    ...shared,
    sender,
    scheduleMs: config.webhookScheduleMs,
    deliveriesMax: bounds.deliveriesMax,
  })
  const lanes = [
    new LaneLoop({
      ...shared,
      queue,
      lane: 'runs',
      leaseMs: LEASE_MS,
      slots: driver.slots,
      claim: claim => store.claimRuns(claim),
      take: loaded => driver.take(loaded),
    }),
    new LaneLoop({
      ...shared,
      queue,
      lane: 'deliveries',
      leaseMs: DELIVERY_LEASE_MS,
      slots: deliverer.slots,
      claim: claim => store.claimDeliveries(claim),
      take: delivery => deliverer.take(delivery),
    }),
  ]
  const leases = new LeaseKeeper({
    store,
    clock,
    driver,
    onError: err => log.error({ err }, 'leases not extended'),
  })
  const readiness = new Health({ store, queue, log })
  const app = createApp({
    store,
    ingest: new Ingest({ ...shared, driver }),
    registry,
    control: new Control({ ...shared, interrupt: runId => driver.interrupt(runId) }),
    live,
    readiness: () => readiness.check(),
    keys: new KeyRing(config.apiKeys),
    clock,
    log,
  })

  let stopping: Promise<void> | undefined
  const stop = async () => {
    readiness.drain()
    await Promise.all(lanes.map(lane => lane.stop()))
    const deadline = new AbortController()
    const cancel = clock.at(clock.now() + config.drainTimeoutMs, () => deadline.abort())
    await Promise.all([driver.drain(deadline.signal), deliverer.drain()])
    cancel()
    leases.stop()
    await app.close()
    await Promise.all([transport.close(), sender.close()])
    await store.close()
  }
  return {
    app,
    store,
    start() {
      for (const lane of lanes) lane.start()
      leases.start()
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}
