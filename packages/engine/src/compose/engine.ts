// Puts the engine together from its parts, which are in this folder, and knows the order in which they start and stop. A test or
// the simulator replaces individual ports.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type HeapShares, heapShares } from '../base/heap.ts'
import { ENGINE_VERSION } from '../base/version.ts'
import type { Config } from '../config/config.ts'
import { shownSettings } from '../config/shown-settings.ts'
import { boundCompiledExpressions } from '../domain/expressions/expression.ts'
import type { HttpLimits } from '../http/request/limits.ts'
import type { Clock, Random } from '../ports/clock.ts'
import type { EngineSetup } from '../ports/engine-reports.ts'
import type { Limiter } from '../ports/limiter.ts'
import type { Queue } from '../ports/queue.ts'
import type { Sender } from '../ports/sender.ts'
import type { Store } from '../ports/store.ts'
import type { Transport } from '../ports/transport.ts'
import { EndCounter } from '../services/admin/end-counter.ts'
import { Engines } from '../services/admin/engines.ts'
import { Health } from '../services/admin/health.ts'
import type { KeyRing } from '../services/admin/keys.ts'
import { Pruner } from '../services/admin/prune.ts'
import { Ingest } from '../services/event/ingest.ts'
import { Schedules } from '../services/event/schedules.ts'
import { MessagePermits } from '../services/pass/permits/message-permits.ts'
import type { Service } from '../services/support/service.ts'
import { createAdmin } from './admin.ts'
import { openBackends } from './backends.ts'
import { closeInTime } from './close-in-time.ts'
import { createCore, type EngineCore } from './core.ts'
import { addressOf, createHttp, type HttpParts, permitsOf } from './http.ts'
import { createRunners } from './runners.ts'
import { createRuns, createTimers } from './runs.ts'
import { createWebhooks } from './webhooks.ts'

/** How many pieces of work one engine has under way at once. */
export interface Bounds {
  passesMax: number
  deliveriesMax: number
  timersMax: number
  /** Overrides the bytes that the state of the runs under way may have; without it, the heap decides. */
  stateBytesMax?: number
  /** Overrides the bytes that large messages of runners may have while they are read and not yet stored. */
  messageBytesMax?: number
  /** Overrides how long a slice of a bulk action looks for its runs. */
  bulkSearchMs?: number
  /** Overrides individual bounds of the HTTP interface. */
  http?: Partial<HttpLimits>
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
  /** The API keys that are valid now. */
  keys: Pick<KeyRing, 'open' | 'size'>
  /** Starts to claim and drive, now or when the engine is released. */
  start(): void
  /**
   * How many passes, deliveries and timers are under way, and whether a lane is claiming more: at 0 and false nothing happens
   * until something arrives or falls due.
   */
  readonly activity: { underWay: number; isLooking: boolean }
  /**
   * Stops in order: readiness turns 503, nothing more is claimed, passes under way finish or are given back within the drain
   * timeout, then the interface and the store close. No run ends because of a stop.
   */
  stop(): Promise<void>
}

/** Rejects if the engine must not or cannot start; nothing is left open then. */
export async function createEngine(
  config: Config,
  log: Logger,
  ports: Partial<Ports> = {},
  overrides: Partial<Bounds> = {},
): Promise<Engine> {
  const shares = heapShares()
  boundCompiledExpressions(shares.expressionBytesMax)
  const bounds = { ...BOUNDS, ...shares, ...overrides }
  const options = { config, log, owner: `engine_${randomUUID()}`, ports }
  const backends = await openBackends(options)
  const parts = await createCore(options, backends)
    .then(core => createParts(config, core, ports, bounds))
    .catch(async error => {
      await closeInTime(backends.close())
      throw error
    })
  const { core, admin, runs, webhooks, timers } = parts
  const app = createHttp(config, parts, bounds.http)
  runs.reachedAt(addressOf(config, app))
  const { always, acting } = backgroundServices(config, parts)
  const background = [...always, ...acting]
  const working = [runs, webhooks, timers]
  let stopping: Promise<void> | undefined
  return {
    app,
    store: core.store,
    keys: admin.keys,
    get activity() {
      const underWay = working.reduce((sum, { work }) => sum + work.permits.inUse, 0)
      return { underWay, isLooking: working.some(({ lane }) => !lane.isWaiting) }
    },
    start() {
      for (const service of always) service.start()
      core.hold.whenReleased(() => {
        for (const service of [...working.map(({ lane }) => lane), ...acting]) service.start()
      })
    },
    stop() {
      stopping ??= stopAll(config, parts, background, app)
      return stopping
    },
  }
}

/** Creates the parts, each of which uses those before it. */
async function createParts(config: Config, core: EngineCore, ports: Partial<Ports>, bounds: Bounds & HeapShares) {
  const admin = await createAdmin(config, core)
  const messages = new MessagePermits({ max: bounds.messageBytesMax, clock: core.clock })
  const runners = await createRunners(config, core, { given: ports.transport, messages })
  const runs = createRuns(config, core, runners, { ...bounds, messages })
  const ingest = new Ingest({ ...core, driver: runs.driver })
  const { deliveriesMax } = bounds
  const webhooks = createWebhooks(config, core, { ...admin, ingest, sender: ports.sender, deliveriesMax })
  const schedules = new Schedules({ ...core, ingest })
  const timers = createTimers(core, { ...bounds, ingest, schedules, runs })
  const health = new Health({ ...core, queue: core.backends.queue })
  const { live } = core
  const engines = new Engines({
    ...core,
    process: { version: ENGINE_VERSION, host: hostname(), pid: process.pid },
    setup: setupOf(config, core.backends),
    permits: permitsOf({ runs, webhooks, timers }),
    connections: runners.connections,
    streams: () => live.runs.size + live.moves.size + live.events.size + live.topicStreams,
    health,
  })
  return {
    core,
    admin,
    messages,
    runners,
    runs,
    ingest,
    schedules,
    webhooks,
    timers,
    health,
    engines,
  } satisfies HttpParts
}

function setupOf(config: Config, { bus }: Pick<EngineCore['backends'], 'bus'>): EngineSetup {
  const { queue, limiter } = config
  const shared = queue?.kind === 'redis' ? 'redis' : 'database'
  return { queue: bus ? shared : 'memory', limiter: limiter.kind, settings: shownSettings(config) }
}

/**
 * The services other than the lanes, in the order in which they stop. Services that act on the store by themselves wait in an
 * engine that is held.
 */
function backgroundServices(
  { retention, streamRetentionMs }: Config,
  { core, admin, runners, runs, webhooks, engines }: HttpParts,
): { always: Service[]; acting: Service[] } {
  const pruner = new Pruner({ ...core, retention, streamRetentionMs })
  const endCounter = new EndCounter(core)
  const { silentRunners, catalogWatch, load } = runners
  // If an engine is alone, nobody else needs its numbers.
  const sharedLoad = core.backends.bus && load
  // An engine that is alone lists itself without a report.
  const reports = core.store.engines && engines
  const always = [runs.leases, admin.watch, webhooks.accepted, catalogWatch, core.liveShare, sharedLoad, reports]
  return { always: always.filter(service => service !== undefined), acting: [pruner, endCounter, silentRunners] }
}

/** Closes in this order: the parts that take in work, then the parts that do it, then the parts they depend on. */
async function stopAll(
  config: Config,
  parts: HttpParts,
  background: readonly Service[],
  app: FastifyInstance,
): Promise<void> {
  const { core, runners, runs, webhooks, timers, health } = parts
  const { clock } = core
  // 1. Load balancers, runners and other engines send nothing new here; work under way continues.
  health.drain()
  runners.drain()
  // 2. Nothing more is claimed, so that the work under way can only decrease.
  await Promise.all([runs, webhooks, timers].map(({ lane }) => lane.stop()))
  // 3. The work under way ends. The keeper of leases and the HTTP interface still work, so runs keep their leases and API calls get
  //    their answers.
  const deadline = new AbortController()
  const cancelTimer = clock.after(config.drainTimeoutMs, () => deadline.abort())
  const work = [runs.work, runners.relayedInvokes, webhooks.work, timers.work]
  await Promise.all(work.map(each => each.stop(deadline.signal)))
  // 4. Nothing needs these any more. They read and write the store, which closes last.
  for (const service of background) await service.stop(deadline.signal)
  cancelTimer()
  // 5. The HTTP interface, whose open requests still use the transport and the store.
  await app.close()
  await Promise.all([runners.transport.close(), webhooks.sender.close()])
  await core.backends.close()
}
