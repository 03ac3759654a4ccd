// Operations on many runs at once: durable jobs that carry out one action on each run.

import * as api from '../api/schema.ts'
import { control as queries } from '../queries/control.ts'
import { type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

const BULK_ID = 'blk_01JD90H2C5E8G1J4M7P0S3V6YC'
const STARTED = {
  id: BULK_ID,
  action: 'replay',
  status: 'running',
  filter: { workflow: 'fulfil-order', status: 'failed' },
  actor: 'ops',
  matched: 1,
  done: 1,
  skipped: 0,
  failed: 0,
  createdAt: '2025-03-01T10:00:00.000Z',
} as const

export const bulk = {
  startBulk: {
    method: 'POST',
    path: '/bulk',
    summary: 'Cancel, pause, resume, replay or retry many runs, as a job that survives restarts',
    description:
      'Only runs created before the reply are touched, each at most once. A dry run answers exact counts and a sample, and changes nothing; one that has to look at too many runs is cancelled 30 s after its arrival with `invalid_request`. A run that no longer matches the filter when the job reaches it is left as it is.',
    access: 'secret',
    body: { schema: api.BulkRequestSchema, required: true },
    reply: { status: 202, description: 'The job is stored and in progress', schema: api.BulkStartedSchema },
    otherwise: ok('For a dry run: the runs that it would act on', api.BulkPreviewSchema),
    errors: ['namespace_suspended'],
    examples: [
      {
        summary: 'Replay every failed order',
        body: { action: 'replay', filter: { workflow: 'fulfil-order', status: 'failed' } },
        reply: { bulkId: BULK_ID },
      },
      {
        summary: 'Cancel what waits for a slot of one customer',
        body: { action: 'cancel', filter: { waitingFor: 'concurrency', attribute: 'customer:c-17' } },
        reply: { bulkId: BULK_ID },
      },
      {
        summary: 'Count the queued orders that a cancel would end',
        body: { action: 'cancel', filter: { workflow: 'fulfil-order', status: 'queued' }, dryRun: true },
        reply: { matched: 0, eligible: 0, skipped: 0, sample: [] },
        otherwise: true,
      },
    ],
  },

  listBulks: {
    method: 'GET',
    path: '/bulk',
    summary: 'List the jobs of the last 30 days, newest first',
    access: 'read',
    query: queries.listBulks,
    reply: page('A page of jobs', api.BulkSchema),
    errors: ['invalid_cursor'],
    examples: [{ summary: 'The newest', query: { limit: '1' }, reply: [STARTED] }],
  },

  getBulk: {
    method: 'GET',
    path: '/bulk/{id}',
    summary: 'Read a job with a page of its results',
    access: 'read',
    query: queries.getBulk,
    reply: ok('The job', api.BulkDetailSchema),
    errors: ['not_found', 'invalid_cursor'],
    examples: [
      {
        summary: 'Its progress',
        path: { id: BULK_ID },
        reply: { ...STARTED, results: [{ runId: sample.RUN_ID, outcome: 'done', newRunId: sample.FORK_ID }] },
      },
    ],
  },

  stopBulk: {
    method: 'POST',
    path: '/bulk/{id}/stop',
    summary: 'Stop a job: the runs that it has not reached stay as they are',
    description: 'Stopping a job that has ended changes nothing.',
    access: 'secret',
    reply: ok('The job', api.BulkSchema),
    errors: ['not_found'],
    examples: [{ summary: 'Stop it', path: { id: BULK_ID }, reply: { ...STARTED, status: 'stopped' } }],
  },
} as const satisfies Record<string, Operation>
