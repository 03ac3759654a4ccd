// The engine's current activity, read for `GET /metrics`: how late its lanes are, what is under way, and whether its
// dependencies answer. Called by compose.

import type { Clock } from '../../ports/clock.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Gauges, LaneGauge } from '../../ports/metrics.ts'
import type { Lane, Store } from '../../ports/store.ts'
import type { Live } from '../live/live.ts'
import { withDeadline } from '../support/with-deadline.ts'
import type { Health } from './health.ts'

/** If the store takes longer, the lateness of the lanes is left out. */
const GAUGES_READ_TIMEOUT_MS = 2000

export interface GaugesDeps {
  store: Store
  clock: Clock
  live: Live
  capacities: Record<Lane, { readonly inUse: number }>
  connections: { readonly size: number }
  health: Pick<Health, 'check'>
  limiter: Pick<Limiter, 'entries'>
}

/** Reads all of them; never rejects. */
export async function readGauges(deps: GaugesDeps): Promise<Gauges> {
  const { live, store, capacities } = deps
  const lanes = Object.keys(capacities) as Lane[]
  const [readiness, ...oldest] = await Promise.all([deps.health.check(), ...lanes.map(lane => oldestReady(lane, deps))])
  return {
    lanes: lanes.map((lane, i) => ({ lane, underWay: capacities[lane].inUse, ...oldest[i] })),
    sockets: deps.connections.size,
    streams: {
      run: live.runs.size,
      runs: live.moves.size,
      events: live.events.size,
      topics: live.topicStreams,
    },
    dependencies: readiness.checks,
    draining: readiness.draining,
    limiterEntries: deps.limiter.entries,
    store: store.stats?.(),
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
