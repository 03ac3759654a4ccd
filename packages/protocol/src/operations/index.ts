// Every operation of the HTTP interface, by id.

import * as control from './control.ts'
import * as events from './events.ts'
import * as health from './health.ts'
import type { Operation } from './operation.ts'
import * as registry from './registry.ts'
import * as runs from './runs.ts'

export { CONTROL_ACTIONS } from './control.ts'
export type * from './operation.ts'
export { RUN_STATUSES, RUN_TYPES } from './runs.ts'

export const operations = {
  listRuns: runs.listRuns,
  getRunStats: runs.getRunStats,
  streamRuns: runs.streamRuns,
  getRun: runs.getRun,
  listRunSteps: runs.listRunSteps,
  listRunLogs: runs.listRunLogs,
  streamRun: runs.streamRun,
  cancelRun: control.cancelRun,
  pauseRun: control.pauseRun,
  resumeRun: control.resumeRun,
  replayRun: control.replayRun,
  retryRunFromStep: control.retryRunFromStep,
  bulkReplayRuns: control.bulkReplayRuns,
  listControlActions: control.listControlActions,
  sendEvent: events.sendEvent,
  listEvents: events.listEvents,
  streamEvents: events.streamEvents,
  getEvent: events.getEvent,
  register: registry.register,
  listApps: registry.listApps,
  listRunners: registry.listRunners,
  listWorkflows: registry.listWorkflows,
  getHealth: health.getHealth,
  getReadiness: health.getReadiness,
} as const satisfies Record<string, Operation>

export type Operations = typeof operations
