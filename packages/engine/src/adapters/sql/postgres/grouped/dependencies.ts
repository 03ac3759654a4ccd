// The checks and row operations that the write function can execute for many units at once, and the keys of the rows that they
// read and change: units that share none of them may be written in any order. A key names a row, or the rows of one event name.

import type { UnitRequest } from '../../batches/requests.ts'
import { EVENTS } from '../../tables/events.ts'
import { RUNS } from '../../tables/runs.ts'
import { STEPS } from '../../tables/steps.ts'
import type { GUARD_CHECKS } from '../../write/guard-checks.ts'
import type { OperationName } from '../../write/statements.ts'

export interface Dependency {
  /** Keys of rows that no earlier unit may have changed. */
  reads: readonly string[]
  changes: readonly string[]
}

/** Reads the values of a unit's check or operation, whose parameters begin at the index. */
type DependencyOf = (unit: UnitRequest, at: number) => Dependency

const NONE: Dependency = { reads: [], changes: [] }
const reads = (key: string): Dependency => ({ reads: [key], changes: [] })
/** Adds rows; others may add rows under the same keys. */
const adds = (...keys: string[]): Dependency => ({ reads: [], changes: keys })
const changes = (key: string, ...alsoAdds: string[]): Dependency => ({ reads: [key], changes: [key, ...alsoAdds] })

const run = (id: unknown) => `run ${id}`
const stepsOf = (runId: unknown) => `steps ${runId}`
const events = (name: unknown) => `events ${name}`
const waits = (eventName: unknown) => `waits ${eventName}`
const claim = (unit: UnitRequest, at: number) => JSON.stringify(['dedupe', ...unit.slice(at, at + 3)])
const givenId = (unit: UnitRequest, at: number) => JSON.stringify(['given', ...unit.slice(at, at + 2)])

const RUN_ID = RUNS.columns.indexOf('id')
const EVENT_NAME = EVENTS.columns.indexOf('name')
const STEP_EVENT = STEPS.columns.indexOf('event_name')
const MOVED_EVENT = STEPS.moving.indexOf('event_name')
const AFTER_RUN = RUNS.moving.length
const AFTER_STEP = STEPS.moving.length
/** The last parameter of `run.end`, after the columns, the status and two times. */
const AFTER_END = AFTER_RUN + 4

export const GROUPED_CHECKS = {
  run: (unit, at) => reads(run(unit[at])),
  steps: (unit, at) => reads(stepsOf(unit[at])),
  // No grouped operation inserts a watch.
  watchers: () => NONE,
  plainWatchers: () => NONE,
  noWatchPaths: () => NONE,
  noWaiters: (unit, at) => reads(waits(unit[at + 1])),
  events: (unit, at) => reads(events(unit[at + 1])),
  eventsAfter: (unit, at) => reads(events(unit[at + 1])),
  dedupe: (unit, at) => reads(claim(unit, at)),
  givenId: (unit, at) => reads(givenId(unit, at)),
  // No grouped operation changes the catalog.
  catalog: () => NONE,
} satisfies Partial<Record<keyof typeof GUARD_CHECKS, DependencyOf>>
export type GroupedCheck = keyof typeof GROUPED_CHECKS

/** In the order of execution: an event before the runs that look back to it, a row before its changes. */
export const GROUPED_OPERATIONS = {
  'event.insert': (unit, at) => adds(events(unit[at + EVENT_NAME])),
  'dedupe.claim': (unit, at) => changes(claim(unit, at)),
  'run.insert': (unit, at) => adds(run(unit[at + RUN_ID])),
  'givenId.insert': (unit, at) => adds(givenId(unit, at)),
  'payload.insert': () => NONE,
  'step.insert': (unit, at) => adds(stepsOf(unit[at])),
  'wait.insert': (unit, at) => adds(stepsOf(unit[at]), waits(unit[at + STEP_EVENT])),
  'step.update': (unit, at) => {
    const [runId, index] = [unit[at + AFTER_STEP], unit[at + AFTER_STEP + 1]]
    return changes(`step ${runId} ${index}`, stepsOf(runId), waits(unit[at + MOVED_EVENT]))
  },
  'frame.insert': () => NONE,
  'log.insert': () => NONE,
  'run.update': (unit, at) => changes(run(unit[at + AFTER_RUN])),
  'run.end': (unit, at) => changes(run(unit[at + AFTER_END])),
} satisfies Partial<Record<OperationName, DependencyOf>>
export type GroupedOperation = keyof typeof GROUPED_OPERATIONS
