// The table whose rows a lane claims.

import type { Lane } from '../../../ports/store.ts'
import { LEASED, ROOMLESS, SCHEDULED } from '../tables/runs.ts'

interface LaneTable {
  table: string
  /** The column that every lease raises. */
  fence: string
  /** When rows fall due: columns, and the conditions of their indexes, each about a part of the rows. */
  dueBy: readonly { column: string; where: string }[]
  /** The condition of the index that finds every leased row. */
  leased: string
}

const AVAILABLE = { column: 'available_at', where: 'available_at IS NOT NULL' }

export const LANE_TABLES: Record<Lane, LaneTable> = {
  runs: {
    table: 'runs',
    fence: 'fence',
    dueBy: [
      { column: 'available_at', where: SCHEDULED },
      { column: 'available_at', where: LEASED },
      { column: 'roomless_at', where: ROOMLESS },
    ],
    leased: LEASED,
  },
  deliveries: { table: 'deliveries', fence: 'fence', dueBy: [AVAILABLE], leased: AVAILABLE.where },
  timers: { table: 'flow_rows', fence: 'version', dueBy: [AVAILABLE], leased: AVAILABLE.where },
}
