// Timers: the lane of due flow-control rows, and what fires them.

import { TIMER_LEASE_MS, Timers } from '../services/event/timers.ts'
import { LaneLoop } from '../services/support/lane.ts'
import { type EngineCore, laneDeps } from './core.ts'
import type { WorkPart } from './work.ts'

export function createTimers(core: EngineCore, timersMax: number): WorkPart {
  const timers = new Timers({ ...core, timersMax })
  return {
    capacity: timers.capacity,
    work: timers,
    lane: new LaneLoop({
      ...laneDeps(core),
      lane: 'timers',
      leaseMs: TIMER_LEASE_MS,
      capacity: timers.capacity,
      claim: claim => core.store.claimTimers(claim),
      onClaimed: row => timers.accept(row),
    }),
  }
}
