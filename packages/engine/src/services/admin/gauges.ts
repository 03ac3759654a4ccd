// The engine's current activity, read for `GET /metrics`: how late its lanes are, what is under way, and whether its
// dependencies answer. Called by compose.

import type { Clock } from '../../ports/clock.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Gauges, LaneGauge, MemoryGauges } from '../../ports/metrics.ts'
import type { Lane, Store } from '../../ports/store.ts'
import type { Live } from '../live/live.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { Health } from './health.ts'

/** If the store takes longer, the lag of the lanes is omitted. */
const GAUGES_READ_TIMEOUT_MS = 2000

export interface GaugesDeps {
  store: Store
  clock: Clock
  live: Live
  permits: Record<Lane, { readonly inUse: number }>
  /** Read at each scrape. */
  memory: MemoryGauges
  acceptance: { readonly waiting: number }
  connections: { readonly size: number }
  health: Pick<Health, 'check'>
  limiter: Pick<Limiter, 'entries'>
  catalog: { view(namespace: string): { readonly apps: ReadonlyMap<string, unknown> } }
}

/** Number of apps that are named; runs of further apps count as `other`. */
const NAMED_APPS_MAX = 100

/** Reads all gauges, including those of one namespace; never rejects. */
export async function readGauges(deps: GaugesDeps, namespace: string): Promise<Gauges> {
  const { live, store, permits } = deps
  const lanes = Object.keys(permits) as Lane[]
  const [readiness, runs, ...oldest] = await Promise.all([
    deps.health.check(),
    runsWithoutRunner(deps, namespace),
    ...lanes.map(lane => oldestReady(lane, deps)),
  ])
  return {
    lanes: lanes.map((lane, i) => ({ lane, underWay: permits[lane].inUse, ...oldest[i] })),
    acceptsWaiting: deps.acceptance.waiting,
    sockets: deps.connections.size,
    streams: {
      run: live.runs.size,
      runs: live.moves.size,
      events: live.events.size,
      topics: live.topicStreams,
    },
    dependencies: readiness.checks,
    draining: readiness.draining,
    held: readiness.held,
    memory: { runs: deps.memory.runs, messages: deps.memory.messages },
    limiterEntries: deps.limiter.entries,
    withoutRunner: runs,
    store: store.stats?.(),
  }
}

/** By app of the namespace, with 0 for apps without such a run; nothing if the store does not answer in time. */
async function runsWithoutRunner(
  { store, clock, catalog }: GaugesDeps,
  namespace: string,
): Promise<Gauges['withoutRunner']> {
  try {
    const found = await withDeadline(clock, GAUGES_READ_TIMEOUT_MS, store.in(namespace).runsWithoutRunner())
    const counts = new Map([...catalog.view(namespace).apps.keys()].sort().map(app => [app, 0]))
    for (const { app, runs } of found) counts.set(app, runs)
    const named = [...counts].sort(([, a], [, b]) => b - a).map(([app, runs]) => ({ app, runs }))
    const others = named.slice(NAMED_APPS_MAX).reduce((sum, { runs }) => sum + runs, 0)
    return [
      ...named.slice(0, NAMED_APPS_MAX),
      ...(named.length > NAMED_APPS_MAX ? [{ app: 'other', runs: others }] : []),
    ]
  } catch {
    return undefined
  }
}

/** How late the lane is; nothing if the store does not answer in time. */
export async function oldestReady(
  lane: Lane,
  { store, clock }: { store: Pick<Store, 'nextAvailableAt'>; clock: Clock },
): Promise<Partial<LaneGauge>> {
  try {
    const at = await withDeadline(clock, GAUGES_READ_TIMEOUT_MS, store.nextAvailableAt(lane))
    const now = clock.now()
    return at === undefined || at > now ? { lagMs: 0 } : { lagMs: now - at, oldestReadyAt: at }
  } catch {
    // The probe of the store shows whether it answers.
    return {}
  }
}
