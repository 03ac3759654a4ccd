// Operations that read runs, their logs and streams.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { runs as queries } from '../queries/runs.ts'
import { type Operation, ok, page, stream } from './operation.ts'
import * as sample from './samples.ts'
import { streams } from './streams.ts'

const VIEW = {
  id: 'failed-today',
  name: 'Failed today',
  query: 'status=failed&since=24h',
  savedAt: '2025-03-01T09:30:00.000Z',
  savedBy: 'ada',
}

export const runs = {
  listRuns: {
    method: 'GET',
    path: '/runs',
    summary: 'List runs, by default newest first',
    description:
      'Pages that follow each other by `cursor` contain every run that matches throughout exactly once, whatever other runs arrive or change. When the status or the duration of a run changes and the list is sorted or filtered by it, that run may appear once, twice or not at all. A list that reads too many runs to fill a page is cancelled 5 s after its arrival with `invalid_request`: narrow it with `since`, `until`, `status`, `workflow` or `app`, or send `partial=1`, so that it is answered in parts. Such a page may have fewer rows than `limit`, or none, and still have a next one; sorted by `started`, the header `X-Scanned-To` then tells the time of creation of the last run that it looked at. If other searches took that time, or a single read of such a page, the answer is `overloaded` with `Retry-After`.',
    access: 'read',
    query: queries.listRuns,
    reply: { ...page('A page of runs', api.ListedRunSchema), partial: true },
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'The newest finished orders',
        query: { app: 'shop', status: 'succeeded', limit: '2' },
        reply: [sample.SUCCEEDED],
      },
      {
        summary: 'Every run that contains an order number, longest first',
        query: { q: '4711', deep: '1', sort: 'duration' },
        reply: [sample.SUCCEEDED],
      },
      {
        summary: 'The runs of a customer',
        query: { attribute: 'customer:c-17' },
        reply: [{ ...sample.WAITING, attributes: { customer: 'c-17' } }],
      },
      {
        summary: 'The runs that wait for a slot, with their places in the queue',
        query: { waitingFor: 'concurrency', position: '1' },
        reply: [{ ...sample.HELD, position: 41 }],
      },
      {
        summary: 'The runs that one event started',
        query: { eventId: sample.EVENT_ID },
        reply: [sample.WAITING],
      },
    ],
  },

  getRunStats: {
    method: 'GET',
    path: '/runs/stats',
    summary: 'Count runs by status',
    description:
      '`total` counts every run that [`GET /runs`](#get-runs) lists, including paused and cancelled ones and on-failure runs; with `kind=run` a handled failure is counted once. `successRate` is rounded to the nearest whole percent, halves up. `failedRate` has two decimals.',
    access: 'read',
    query: queries.getRunStats,
    reply: ok('The counts', api.RunStatsSchema),
    examples: [
      {
        summary: 'The counts of the shop since nine',
        query: { app: 'shop', since: '2025-03-01T09:00:00Z' },
        reply: { total: 120, active: 12, succeeded: 105, failed: 3, successRate: 97, failedRate: 2.78 },
      },
    ],
  },

  listErrors: {
    method: 'GET',
    path: '/errors',
    summary: 'Group failed runs by error, the largest group first',
    description:
      'Failures of one cause have one fingerprint ([Errors](errors.md#fingerprints)). The newest 20,000 failures that match are grouped. A group is open until it is [resolved or ignored](#put-errorsfingerprintstate).',
    access: 'read',
    query: queries.listErrors,
    reply: ok('The groups', Type.Array(api.ErrorGroupSchema)),
    examples: [
      {
        summary: 'Failures of the shop',
        query: { app: 'shop', trend: '6', runners: '3' },
        reply: [
          {
            fingerprint: '3f9a1c0d5e7b2846',
            app: 'shop',
            workflow: 'process-order',
            state: 'regressed',
            stateSetAt: '2025-03-01T09:30:00.000Z',
            stateSetBy: 'ada',
            stepName: 'charge-card',
            code: 'step_failed',
            message: 'card 4711 was refused',
            count: 3,
            firstAt: '2025-03-01T09:01:02.003Z',
            lastAt: '2025-03-01T10:02:03.004Z',
            firstSeenAt: '2025-02-11T16:40:00.000Z',
            lastRunId: sample.RUN_ID,
            lastRunner: 'shop-1',
            trend: [0, 0, 1, 0, 0, 2],
            runners: [
              { runnerId: 'shop-1', count: 2, sdkName: '@perdure/sdk', version: '0.1.0' },
              { runnerId: 'shop-2', count: 1 },
            ],
          },
        ],
      },
    ],
  },

  listViews: {
    method: 'GET',
    path: '/views',
    summary: 'List the views of the list of runs that the namespace shares, by name',
    access: 'read',
    reply: ok('The views', Type.Array(api.ViewSchema)),
    examples: [{ summary: 'Shared views', reply: [VIEW] }],
  },

  putView: {
    method: 'PUT',
    path: '/views/{id}',
    summary: 'Share a view of the list of runs, or replace it',
    description:
      'The caller chooses the id: 1 to 64 letters, digits, `_` or `-`. A namespace has at most 100 shared views.',
    access: 'secret',
    body: { schema: api.PutViewSchema, required: true },
    reply: ok('The view', api.ViewSchema),
    errors: ['conflict'],
    examples: [
      {
        summary: 'The failures of a day',
        path: { id: VIEW.id },
        body: { name: VIEW.name, query: VIEW.query },
        reply: VIEW,
      },
    ],
  },

  deleteView: {
    method: 'DELETE',
    path: '/views/{id}',
    summary: 'Delete a shared view',
    access: 'secret',
    reply: { status: 204, description: 'It is gone' },
    errors: ['not_found'],
    examples: [{ summary: 'Delete a view', path: { id: VIEW.id } }],
  },

  setErrorState: {
    method: 'PUT',
    path: '/errors/{fingerprint}/state',
    summary: 'Resolve or ignore an error group, or reopen it',
    description:
      'A resolved group in which a run fails again has regressed: it counts as open. An ignored group stays ignored until it is reopened. The state goes with the last stored run of the group.',
    access: 'secret',
    body: { schema: api.ErrorStateChangeSchema, required: true },
    reply: ok('The state', api.ErrorStateSchema),
    errors: ['not_found', 'conflict'],
    examples: [
      {
        summary: 'A fix was deployed',
        path: { fingerprint: '3f9a1c0d5e7b2846' },
        body: { state: 'resolved' },
        reply: {
          fingerprint: '3f9a1c0d5e7b2846',
          state: 'resolved',
          stateSetAt: '2025-03-01T09:30:00.000Z',
          stateSetBy: 'ada',
        },
      },
    ],
  },

  streamRuns: {
    method: 'GET',
    path: '/runs/stream',
    summary: 'Follow the status of every run of the namespace',
    description:
      'Live from the moment of connecting, best effort: a client that does not keep up is disconnected, and frames that it misses until it reconnects are not repeated. Each frame is a signal to read the run again. Where several engines share a store, a `gap` frame says that frames of the others may have been lost on the way.',
    access: 'read',
    reply: stream('`run_status` frames', Type.Union([api.RunStatusFrameSchema, api.GapFrameSchema])),
    examples: [{ summary: 'An order starts', reply: sample.FRAME }],
  },

  getRun: {
    method: 'GET',
    path: '/runs/{id}',
    summary: 'Read one run with its input and result',
    access: 'read',
    runToken: true,
    reply: ok('The run', api.RunSchema),
    errors: ['not_found'],
    examples: [{ summary: 'A finished order', path: { id: sample.RUN_ID }, reply: sample.RUN }],
  },

  getRunResult: {
    method: 'GET',
    path: '/runs/{id}/result',
    summary: 'Read the result of a run, and wait for it',
    access: 'read',
    runToken: true,
    query: queries.getRunResult,
    reply: ok('The run has ended', api.RunResultSchema),
    otherwise: { status: 202, description: 'The run has not ended', schema: api.RunResultSchema },
    errors: ['not_found'],
    examples: [
      {
        summary: 'The result of an order',
        path: { id: sample.RUN_ID },
        query: { wait: '30s' },
        reply: sample.RUN_RESULT,
      },
    ],
  },

  explainRun: {
    method: 'GET',
    path: '/runs/{id}/why',
    summary: 'Explain the state of a run: what it waits for, which runner executes it, or how it ended',
    access: 'read',
    reply: ok('The explanation', api.RunExplanationSchema),
    errors: ['not_found'],
    examples: [{ summary: 'An order that waits', path: { id: sample.RUN_ID }, reply: sample.EXPLANATION }],
  },

  listRunLogs: {
    method: 'GET',
    path: '/runs/{id}/logs',
    summary: "List a run's log lines",
    access: 'read',
    query: queries.listRunLogs,
    reply: ok('A page of log lines', Type.Array(api.RunLogLineSchema)),
    errors: ['not_found'],
    examples: [
      {
        summary: 'The first lines',
        path: { id: sample.RUN_ID },
        query: { limit: '20' },
        reply: sample.LOG_LINES,
      },
    ],
  },

  streamRun: {
    method: 'GET',
    path: '/runs/{id}/stream',
    summary: "Follow a run's timeline: stored frames first, then live ones, until the run ends",
    description:
      'Lossless and in order of `seq`. After a dropped connection, reconnect with `from` (or `Last-Event-ID`) set to the last `seq` received; if both are sent, the larger one counts. A `Last-Event-ID` at the end of a run that has ended is answered 204, which an `EventSource` takes as the end.',
    access: 'read',
    runToken: true,
    query: queries.streamRun,
    reply: stream('Timeline frames', api.TimelineFrameSchema),
    otherwise: { status: 204, description: 'The run has ended, and `Last-Event-ID` names its last frame' },
    errors: ['not_found'],
    examples: [{ summary: 'From the start', path: { id: sample.RUN_ID }, query: { from: '0' }, reply: sample.FRAME }],
  },

  ...streams,
} as const satisfies Record<string, Operation>
