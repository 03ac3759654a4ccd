// Which table's rows a lane claims, and the column of it that every lease raises.

import type { Lane } from '../../../ports/store.ts'

interface LaneTable {
  table: string
  fence: string
  /** What the table's indexes of `available_at` are about, each a part of the rows. */
  parts: readonly string[]
}

const SCHEDULED = 'available_at IS NOT NULL'

export const LANE_TABLES: Record<Lane, LaneTable> = {
  runs: {
    table: 'runs',
    fence: 'fence',
    parts: [`${SCHEDULED} AND priority IS NULL`, `${SCHEDULED} AND priority IS NOT NULL`],
  },
  deliveries: { table: 'deliveries', fence: 'fence', parts: [SCHEDULED] },
  timers: { table: 'flow_rows', fence: 'version', parts: [SCHEDULED] },
}
