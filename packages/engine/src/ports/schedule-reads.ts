// The reads of schedules: crons of workflows, and schedules of the API.

import type { FlowRow } from '../domain/model/flow-row.ts'

export interface SortedSchedulesQuery {
  /**
   * `next`: only schedules with a next instant, the soonest first, so that late ones come before all others. `missed`: only
   * schedules with missed instants, the latest first.
   */
  sort: 'next' | 'missed'
  policy?: 'cron' | 'schedule' | undefined
  limit: number
  /** The sort position of the last row of the previous page. */
  after?: { at: number; id: string } | undefined
}

/** The row of a schedule with its place in the order. */
export interface PositionedSchedule {
  row: FlowRow
  at: number
}

export interface ScheduleReads {
  /** The rows of the crons of the namespace's workflows, by app, workflow and cron. */
  schedules(): Promise<FlowRow[]>
  /** Rows of the schedules of the API after the id `after`, by id: as many as the limit, or fewer where their data is large. */
  eventSchedules(query: { after?: string | undefined; limit: number }, signal?: AbortSignal): Promise<FlowRow[]>
  /** Rows of the schedules of workflows and of the API, as many as the limit, or fewer where their data is large. */
  sortedSchedules(query: SortedSchedulesQuery, signal?: AbortSignal): Promise<PositionedSchedule[]>
}
