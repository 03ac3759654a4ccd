// Operations that act on runs, and the audit log of such actions.

import * as api from '../api/schema.ts'
import { control as queries } from '../queries/control.ts'
import { type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

export const control = {
  cancelRun: {
    method: 'POST',
    path: '/runs/{id}/cancel',
    summary: 'Cancel a run, its running steps and its children',
    access: 'secret',
    reply: ok('The run, cancelled', api.RunSummarySchema),
    errors: ['not_found', 'run_terminal'],
    examples: [{ summary: 'Cancel an order', path: { id: sample.RUN_ID }, reply: sample.CANCELLED }],
  },

  pauseRun: {
    method: 'POST',
    path: '/runs/{id}/pause',
    summary: 'Pause a run at its next step boundary',
    description: 'The running step finishes and is stored. Pausing a paused run changes nothing.',
    access: 'secret',
    reply: ok('The run, paused', api.RunSummarySchema),
    errors: ['not_found', 'run_terminal'],
    examples: [{ summary: 'Pause an order', path: { id: sample.RUN_ID }, reply: sample.PAUSED }],
  },

  resumeRun: {
    method: 'POST',
    path: '/runs/{id}/resume',
    summary: 'Resume a paused run from its next step',
    access: 'secret',
    reply: ok('The run, queued', api.RunSummarySchema),
    errors: ['not_found', 'run_not_paused'],
    examples: [{ summary: 'Resume an order', path: { id: sample.RUN_ID }, reply: sample.RESUMED }],
  },

  replayRun: {
    method: 'POST',
    path: '/runs/{id}/replay',
    summary: 'Run a finished run again from the start, as a new run',
    access: 'secret',
    body: { schema: api.ReplayRequestSchema, required: false },
    reply: ok('The new run', api.RunSummarySchema),
    errors: ['not_found', 'run_not_finished', 'already_running', 'namespace_suspended'],
    examples: [
      { summary: 'Replay with the same input', path: { id: sample.RUN_ID }, reply: sample.FORK },
      {
        summary: 'Replay with a corrected order',
        path: { id: sample.RUN_ID },
        body: { input: { ...sample.ORDER, total: 3900 } },
        reply: sample.FORK,
      },
    ],
  },

  retryRunFromStep: {
    method: 'POST',
    path: '/runs/{id}/retry-from-step',
    summary: 'Run a finished run again from a step on, as a new run that keeps the results of earlier steps',
    access: 'secret',
    body: { schema: api.RetryFromStepRequestSchema, required: true },
    reply: ok('The new run', api.RunSummarySchema),
    errors: ['not_found', 'step_not_found', 'run_not_finished', 'already_running', 'namespace_suspended'],
    examples: [
      {
        summary: 'Charge the card again',
        path: { id: sample.RUN_ID },
        body: { step: 'charge-card' },
        reply: sample.FORK,
      },
    ],
  },

  eraseRun: {
    method: 'DELETE',
    path: '/runs/{id}',
    summary: 'Erase a finished run with its steps, logs, timeline and deliveries',
    description:
      'The payload of its event goes too, unless another run has it; the record of the event stays. The entry in the audit log stays. The id is never used again.',
    access: 'secret',
    reply: { status: 204, description: 'The run is erased' },
    errors: ['not_found', 'run_not_finished'],
    examples: [{ summary: 'Erase an order', path: { id: sample.RUN_ID } }],
  },

  bulkReplayRuns: {
    method: 'POST',
    path: '/runs/bulk-replay',
    summary: 'Replay every finished run that matches a filter, newest first, up to a limit per call',
    access: 'secret',
    body: { schema: api.BulkReplayRequestSchema, required: true },
    reply: ok('Counts of the matching runs', api.BulkReplayReplySchema),
    errors: ['namespace_suspended'],
    examples: [
      {
        summary: 'Replay every order that failed since nine',
        body: { workflow: 'fulfil-order', status: 'failed', since: '2025-03-01T09:00:00Z' },
        reply: { matched: 2, replayed: 2, skipped: 0, failed: 0, capped: false },
      },
    ],
  },

  listControlActions: {
    method: 'GET',
    path: '/control-actions',
    summary: 'List control actions, newest first',
    access: 'read',
    query: queries.listControlActions,
    reply: page('A page of audit entries', api.ControlActionSchema),
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'Who acted on this run',
        query: { runId: sample.RUN_ID, limit: '10' },
        reply: [
          {
            id: 'act_01JD90H2C5E8G1J4M7P0S3V6YB',
            action: 'replay',
            runId: sample.RUN_ID,
            newRunId: sample.FORK_ID,
            actor: 'ops',
            createdAt: '2025-03-01T10:00:00.000Z',
          },
        ],
      },
    ],
  },
} as const satisfies Record<string, Operation>
