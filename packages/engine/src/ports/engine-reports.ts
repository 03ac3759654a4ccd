// The part of the Store port for the reports of engines that share a store. No decision rests on them, so they are written
// outside of units. Implemented by adapters/sql/postgres.

/** How much of one kind of work an engine has under way. */
export interface LaneLoad {
  lane: 'runs' | 'deliveries' | 'timers'
  inFlight: number
  max: number
}

/** The state of a dependency. */
export type Check = 'ok' | 'unavailable'

/** The parts of a report that never change while the engine runs. */
export interface EngineSetup {
  queue: 'memory' | 'database' | 'redis'
  limiter: 'memory' | 'redis'
  /** Settings that are not secret, by name. */
  settings: Readonly<Record<string, string>>
}

/** The report of an engine. Times are epoch ms. */
export interface EngineReport extends EngineSetup {
  id: string
  version: string
  host: string
  pid: number
  startedAt: number
  /** When it was written. */
  seenAt: number
  isDraining: boolean
  isHeld?: true
  lanes: readonly LaneLoad[]
  /** Number of sockets of Connect runners. */
  sockets: number
  /** Number of open streams of the HTTP interface. */
  streams: number
  checks: Readonly<Record<string, Check>>
  /** Absent if the store does not count. */
  writes?: { commits: number; requests: number; batches: number; pending: number } | undefined
  limiterEntries?: number | undefined
}

export interface EngineReports {
  /** Replaces the engine's report, and removes the reports of other engines that were written before a time. */
  put(report: EngineReport, removeBefore: number): Promise<void>
  /** Removes the engine's report. */
  remove(engineId: string): Promise<void>
  /** Lists reports that were written at that time or later: the newest ones if there are more than `limit`. */
  list(newest: { since: number; limit: number }): Promise<EngineReport[]>
}
