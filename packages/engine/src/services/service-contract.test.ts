// The contract of services/support/service.ts, checked against every service that compose starts and stops: on a real store,
// under a virtual clock.

import { pino } from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { LoopbackNetwork } from '../adapters/bus/loopback.testkit.ts'
import { seededRandom } from '../adapters/clock/seeded-random.ts'
import { VirtualClock } from '../adapters/clock/virtual.ts'
import { MemoryLimiter } from '../adapters/limiter/memory.ts'
import { MemoryQueue } from '../adapters/queue/memory.ts'
import { openSqliteStore } from '../adapters/sql/sqlite/store.ts'
import { IdSource } from '../domain/text/ids.ts'
import type { Bus } from '../ports/bus.ts'
import { NO_METRICS } from '../ports/metrics.ts'
import { AdminWatch } from './admin/admin-watch.ts'
import { EndCounter } from './admin/end-counter.ts'
import { Engines } from './admin/engines.ts'
import { KeyRing } from './admin/keys.ts'
import { Pruner } from './admin/prune.ts'
import { Catalog } from './catalog/catalog.ts'
import { CatalogWatch } from './catalog/catalog-watch.ts'
import { Namespaces } from './catalog/namespaces.ts'
import { RunnerHealth } from './catalog/runner-health.ts'
import { RunnerLoad } from './catalog/runner-load.ts'
import { Announcer } from './commit/announce.ts'
import { Audit } from './commit/audit.ts'
import type { Core } from './commit/core.ts'
import { Timers } from './event/timers.ts'
import { Live } from './live/live.ts'
import { LiveShare } from './live/live-share.ts'
import { Driver } from './pass/driver.ts'
import { HttpCheckpoints } from './pass/http-checkpoints.ts'
import { LeaseKeeper } from './pass/leases.ts'
import { MessagePermits } from './pass/permits/message-permits.ts'
import { CallbackTokens } from './support/callback-tokens.ts'
import { EngineHold } from './support/engine-hold.ts'
import { LaneLoop } from './support/lane.ts'
import { PassTokens } from './support/pass-tokens.ts'
import { Permits } from './support/permits.ts'
import { RepeatingTask } from './support/repeating-task.ts'
import type { Service, Stoppable } from './support/service.ts'
import { AcceptedPosts } from './webhook/accepted-posts.ts'
import { Deliverer } from './webhook/deliver.ts'
import { Vault } from './webhook/vault.ts'

/** The parts that the services of one engine need. */
interface Setting extends Core {
  clock: VirtualClock
  queue: MemoryQueue
  live: Live
  bus: Bus
}

const never = async () => expect.unreachable('nothing is invoked or sent')
const SENDER = { send: never, close: async () => {} }
const TRANSPORT = { invoke: never, close: async () => {} }
const onError = (error: unknown) => expect.unreachable(String(error))

const SERVICES: Record<string, (setting: Setting) => Service | Stoppable> = {
  RepeatingTask: ({ clock, store }) =>
    new RepeatingTask({ clock, everyMs: 1000, run: () => store.ping(), onFailure: onError }),
  LaneLoop: ({ store, ...setting }) =>
    new LaneLoop({
      ...setting,
      store,
      lane: 'runs',
      leaseMs: 1000,
      work: { permits: new Permits(1), accept: () => expect.unreachable('there is no run') },
      isShared: false,
      claim: claim => store.claimRuns(claim),
    }),
  LeaseKeeper: setting => new LeaseKeeper({ ...setting, driver: { activeRuns: [], interrupt: () => {} }, onError }),
  AdminWatch: setting =>
    new AdminWatch({
      ...setting,
      admin: setting.store.admin,
      keys: new KeyRing({ fixed: [], loopback: true }),
    }),
  AcceptedPosts: setting => {
    const posts = new AcceptedPosts(setting)
    posts.note({ id: 'whr_1' })
    return posts
  },
  CatalogWatch: setting =>
    new CatalogWatch({ ...setting, onAppReachable: () => {}, onLimited: () => {}, onRead: async () => {} }),
  Pruner: setting => new Pruner({ ...setting, retention: { succeeded: 1000 } }),
  EndCounter: setting => new EndCounter(setting),
  Engines: setting =>
    new Engines({
      ...setting,
      store: {
        nextAvailableAt: lane => setting.store.nextAvailableAt(lane),
        prunedUpTo: () => setting.store.prunedUpTo(),
        // Reports of a shared store, which call this one.
        engines: { put: () => setting.store.ping(), remove: () => setting.store.ping(), list: async () => [] },
      },
      process: { version: '1.0.0', host: 'here', pid: 1 },
      setup: { queue: 'database', limiter: 'memory', settings: {} },
      permits: { runs: new Permits(1), deliveries: new Permits(1), timers: new Permits(1) },
      connections: { size: 0 },
      streams: () => 0,
      health: { isDraining: false, isHeld: false, checks: async () => ({}), services: async () => ({}) },
    }),
  LiveShare: setting => new LiveShare(setting),
  RunnerLoad: ({ clock, bus }) => new RunnerLoad({ clock, bus }),
  Driver: setting =>
    new Driver({
      ...setting,
      transport: TRANSPORT,
      health: new RunnerHealth(setting.clock),
      load: new RunnerLoad({ clock: setting.clock, bus: undefined }),
      passesMax: 10,
      hold: new EngineHold(false),
      stateBytesMax: 1024,
      messages: new MessagePermits({ max: 1024, clock: setting.clock }),
      onRoom: () => {},
      isShared: false,
      isLive: () => false,
      httpCheckpoints: new HttpCheckpoints({
        tokens: new PassTokens('secret'),
        owner: setting.owner,
        baseUrl: () => 'http://engine.test',
        again: async () => {},
        isShared: false,
      }),
      callbackTokens: new CallbackTokens('secret'),
      engineUrl: () => 'http://engine.test',
    }),
  Deliverer: setting =>
    new Deliverer({
      ...setting,
      sender: SENDER,
      vault: new Vault([]),
      scheduleMs: [1000],
      deliveriesMax: 10,
      onRoom: () => {},
    }),
  Timers: setting =>
    new Timers({
      ...setting,
      ingest: { arrive: async () => {} },
      schedules: { arrive: async () => {} },
      bulk: async () => {},
      timersMax: 10,
    }),
}

/** No test leaves rows behind that another one would meet. */
const real = await openSqliteStore({ file: ':memory:' })
afterAll(() => real.close())

/** A service of that name on a store whose calls are counted. */
async function setUp(name: string) {
  const calls = { count: 0, hang: false }
  const counting = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, key) {
        const value = Reflect.get(target, key, target)
        if (typeof value === 'object' && value !== null) return counting(value)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls.count++
          if (calls.hang) return new Promise(() => {})
          return value.apply(target, args)
        }
      },
    })
  const store = counting(real)
  const clock = new VirtualClock()
  const queue = new MemoryQueue(clock)
  const live = new Live()
  const random = seededRandom(1)
  const [ids, log] = [new IdSource(() => random.next()), pino({ level: 'silent' })]
  const catalog = await Catalog.load(real, { deliveryAttemptsMax: 1, generationsMax: 100 }, true)
  const setting: Setting = {
    store,
    limiter: new MemoryLimiter(),
    catalog,
    namespaces: new Namespaces(catalog),
    announcer: new Announcer({ queue, live, store }),
    clock,
    random,
    ids,
    owner: 'engine-1',
    log,
    audit: new Audit({ store, clock, ids, log }),
    metrics: NO_METRICS,
    report: onError,
    queue,
    live,
    bus: await new LoopbackNetwork(clock).open('engine-1'),
  }
  const service = SERVICES[name]?.(setting) as Stoppable & Partial<Service>
  /** Fails if the service has a timer left, or calls the store again. */
  const expectStopped = async () => {
    expect(clock.nextTimer()).toBeUndefined()
    const before = calls.count
    await clock.advance(120_000)
    expect(calls.count).toBe(before)
  }
  return { service, clock, calls, expectStopped }
}

test.each(['RepeatingTask', 'AdminWatch', 'AcceptedPosts', 'CatalogWatch', 'Pruner', 'EndCounter'])(
  '%s gives up a call of the store that never ends at the deadline',
  async name => {
    const { service, clock, calls, expectStopped } = await setUp(name)
    calls.hang = true
    service.start?.()
    await clock.advance(60_000)
    expect(calls.count).toBeGreaterThan(0)
    const deadline = new AbortController()
    const stopped = service.stop(deadline.signal)
    deadline.abort()
    await stopped
    await service.stop(AbortSignal.abort())
    await expectStopped()
  },
)

describe.each(Object.keys(SERVICES))('%s', name => {
  test('stops without having been started, and cannot be started after that', async () => {
    const { service, expectStopped } = await setUp(name)
    await service.stop()
    service.start?.()
    await expectStopped()
  })

  test('stops twice, one call while the other is under way and one after both', async () => {
    const { service, clock, expectStopped } = await setUp(name)
    service.start?.()
    await clock.advance(60_000)
    await Promise.all([service.stop(), service.stop()])
    await service.stop()
    await expectStopped()
  })

  test('stops while it starts', async () => {
    const { service, expectStopped } = await setUp(name)
    service.start?.()
    service.start?.()
    await service.stop(AbortSignal.abort())
    await expectStopped()
  })

  test('stops in the middle of a run of its work', async () => {
    const { service, clock, expectStopped } = await setUp(name)
    service.start?.()
    const advanced = clock.advance(60_000)
    await service.stop()
    await advanced
    await expectStopped()
  })
})
