// The table whose rows a lane claims.

import type { Lane } from '../../../ports/store.ts'
import { RANKED, UNRANKED } from '../tables/runs.ts'

interface LaneTable {
  table: string
  /** The column that every lease raises. */
  fence: string
  /** Conditions of the table's indexes by `available_at`, each about a part of the rows. */
  parts: readonly string[]
}

const SCHEDULED = 'available_at IS NOT NULL'

export const LANE_TABLES: Record<Lane, LaneTable> = {
  runs: {
    table: 'runs',
    fence: 'fence',
    parts: [UNRANKED, RANKED],
  },
  deliveries: { table: 'deliveries', fence: 'fence', parts: [SCHEDULED] },
  timers: { table: 'flow_rows', fence: 'version', parts: [SCHEDULED] },
}
