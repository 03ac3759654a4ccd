// Operations that count runs: over time, by workflow, and in facets.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { WAITING_KINDS } from '../api/values.ts'
import { statistics as queries } from '../queries/statistics.ts'
import { type Operation, ok } from './operation.ts'
import * as sample from './samples.ts'

const KEPT =
  'Each run is counted once, and stays counted after it is removed, including children and replays, each under its own workflow. Statistics take 2 s at most, four of an engine at a time; beyond that the answer is `overloaded` with `Retry-After`.'
const TALLY = {
  started: 42,
  succeeded: 38,
  failed: 2,
  cancelled: 1,
  p50Ms: 744,
  p95Ms: 2106,
  p99Ms: 5007,
  queueP95Ms: 10,
}
const NOT_WAITING = Object.fromEntries(WAITING_KINDS.map(kind => [kind, 0]))

export const statistics = {
  getRunSeries: {
    method: 'GET',
    path: '/runs/series',
    summary: 'Count runs over time',
    description: `A point for each span of time, oldest first: runs that were created in it, and runs that ended in it. On-failure runs are not counted; the failures that they handle are. A span without runs has zeros and no percentiles. Spans begin at full five minutes, hours or days in UTC, and the first one contains \`since\`. ${KEPT}`,
    access: 'read',
    query: queries.getRunSeries,
    reply: ok('The points', Type.Array(api.RunSeriesPointSchema)),
    examples: [
      {
        summary: 'The orders of two days',
        query: { step: '1d', since: '2025-03-01T00:00:00Z', until: '2025-03-03T00:00:00Z', workflow: 'process-order' },
        reply: [
          { at: '2025-03-01T00:00:00.000Z', ...TALLY },
          { at: '2025-03-02T00:00:00.000Z', started: 0, succeeded: 0, failed: 0, cancelled: 0 },
        ],
      },
    ],
  },

  getWorkflowStats: {
    method: 'GET',
    path: '/workflows/stats',
    summary: 'Count the runs of each workflow, the busiest first',
    description: `Workflows with runs that were created or ended in the window, or are in flight now. On-failure runs are counted only in \`onFailure\`, cleanup runs only in \`cleanup\`. \`since\`, and likewise \`until\`, counts from the beginning of its five minutes; of its hour where it is older than 8 days, of its day where it is older than 400. ${KEPT}`,
    access: 'read',
    query: queries.getWorkflowStats,
    reply: ok('The workflows', Type.Array(api.WorkflowStatsSchema)),
    examples: [
      {
        summary: 'The workflows of the shop today',
        query: { app: 'shop', trend: '6' },
        reply: [
          {
            app: 'shop',
            workflow: 'process-order',
            ...TALLY,
            inFlight: 7,
            held: 2,
            heldBy: { concurrency: 2, throttle: 0, runner: 0, 'workflow-paused': 0 },
            onFailure: { succeeded: 2, failed: 0, cancelled: 0, inFlight: 0 },
            cleanup: { succeeded: 1, failed: 0, cancelled: 0, inFlight: 0 },
            lastFailure: {
              runId: sample.RUN_ID,
              at: '2025-03-01T10:02:03.004Z',
              stepName: 'charge-card',
              code: 'step_failed',
              message: 'card 4711 was refused',
            },
            steps: [{ name: 'charge-card', count: 40, totalMs: 21004, p95Ms: 1488 }],
            trend: {
              at: '2025-02-28T12:00:00.000Z',
              spanMs: 21_600_000,
              started: [4, 0, 8, 22, 8],
              failed: [0, 0, 0, 2, 0],
            },
          },
        ],
      },
    ],
  },

  getRunFacets: {
    method: 'GET',
    path: '/runs/facets',
    summary: 'Count runs by status, app, workflow, kind, and what they wait for',
    description: `Counts what [\`GET /runs\`](#get-runs) lists, on-failure runs too: runs that ended since a time, and all runs in flight; with \`until\` only those in flight that were created in the window, as [\`GET /runs\`](#get-runs) finds them. \`since\` and \`until\` count as in [\`GET /workflows/stats\`](#get-workflowsstats). ${KEPT}`,
    access: 'read',
    query: queries.getRunFacets,
    reply: ok('The counts', api.RunFacetsSchema),
    examples: [
      {
        summary: 'The runs of the shop',
        query: { app: 'shop' },
        reply: {
          status: { queued: 2, running: 1, waiting: 4, paused: 0, succeeded: 38, failed: 2, cancelled: 1 },
          app: [{ app: 'shop', runs: 48 }],
          workflow: [{ app: 'shop', workflow: 'process-order', runs: 48 }],
          waitingFor: { ...NOT_WAITING, sleep: 3, event: 1, concurrency: 2 },
          waits: [
            { status: 'queued', waitingFor: 'concurrency', runs: 2 },
            { status: 'waiting', waitingFor: 'sleep', runs: 3 },
            { status: 'waiting', waitingFor: 'event', runs: 1 },
          ],
          kind: { run: 46, onFailure: 2, cleanup: 1 },
        },
      },
    ],
  },
} as const satisfies Record<string, Operation>
