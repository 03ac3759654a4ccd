// The shape that the parts for runs, deliveries and timers share: a lane that claims, and the work it starts.

import type { EngineCapacity } from '../services/support/engine-capacity.ts'
import type { LaneLoop } from '../services/support/lane.ts'
import type { Stoppable } from '../services/support/service.ts'

export interface WorkPart {
  lane: Pick<LaneLoop<unknown>, 'start' | 'stop' | 'isWaiting'>
  capacity: EngineCapacity
  /** The claimed work under way. */
  work: Stoppable
}
