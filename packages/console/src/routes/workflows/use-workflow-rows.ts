// The workflows of a list, each with its statistics in the window, its next scheduled start and its live runners.

import type { WorkflowDefinition } from '@perdure/protocol'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { countedUntil } from '../../data/time/counted.ts'
import type { MovingWindowOptions } from '../../ui/live-list/use-moving-window.ts'
import { keyOf, nextStarts, serversOf } from './served.ts'
import type { Stats } from './stats.ts'

/** The statistics are read again this long after a run has changed. */
export const ROWS_RENEWAL: MovingWindowOptions = {
  afterMs: 10_000,
  windowed: ['getWorkflowStats'],
  others: ['listWorkflows', 'listSchedules', 'listRunners'],
}

/** The workflow schedules that fire soonest; later ones have no instant in the list. */
const SCHEDULES = { source: 'workflow', sort: 'next', limit: 200 } as const

/** Maximum number of bars in a trend: the week has 29 and the month 31. */
const TREND_SPANS = 32

export interface WorkflowRow extends WorkflowDefinition {
  stats: Stats | undefined
  /** When a schedule next starts it. */
  nextAt: string | undefined
  /** The live runners that serve it; undefined until they are known. */
  servers: readonly string[] | undefined
}

export interface RowsWindow {
  app: string | undefined
  since: string | undefined
  until: string | undefined
}

/**
 * Reads the data that rows need in addition to the definitions. Returns the statistics, and a function that makes the row of a
 * definition.
 */
export function useWorkflowRows({ app, since, until }: RowsWindow) {
  const window = { since, until: countedUntil(until) }
  const stats = useRead('getWorkflowStats', { app, ...window, limit: 200, trend: TREND_SPANS })
  const nextAt = nextStarts(itemsOf(usePages('listSchedules', SCHEDULES)))
  const runners = useRead('listRunners', { app }).data
  const servers = runners && serversOf(runners)
  const statsOf = new Map(stats.data?.map(each => [keyOf({ app: each.app, name: each.workflow }), each]))
  const rowOf = (definition: WorkflowDefinition): WorkflowRow => {
    const key = keyOf(definition)
    const served = servers && (servers.get(key) ?? [])
    return { ...definition, stats: statsOf.get(key), nextAt: nextAt.get(key), servers: served }
  }
  return { stats, rowOf }
}
