// Operations that act on runs, and the audit log of such actions.

import Type from 'typebox'
import {
  BulkReplayReplySchema,
  BulkReplayRequestSchema,
  ControlActionSchema,
  ReplayRequestSchema,
  RetryFromStepRequestSchema,
  RunSummarySchema,
} from '../api/schema.ts'
import { CONTROL_ACTIONS } from '../api/values.ts'
import { ID_CHARS_MAX, type Operation } from './operation.ts'
import {
  SAMPLE_CANCELLED,
  SAMPLE_FORK,
  SAMPLE_FORK_ID,
  SAMPLE_ORDER,
  SAMPLE_PAUSED,
  SAMPLE_RESUMED,
  SAMPLE_RUN_ID,
} from './samples.ts'

const run = (description: string) => ({ status: 200, description, schema: RunSummarySchema }) as const

export const cancelRun = {
  id: 'cancelRun',
  method: 'POST',
  path: '/runs/{id}/cancel',
  tag: 'control',
  summary: 'Cancel a run, its running steps and its children',
  access: 'secret',
  reply: run('The run, cancelled'),
  errors: ['not_found', 'run_terminal'],
  examples: [{ summary: 'Cancel an order', path: { id: SAMPLE_RUN_ID }, reply: SAMPLE_CANCELLED }],
} as const satisfies Operation

export const pauseRun = {
  id: 'pauseRun',
  method: 'POST',
  path: '/runs/{id}/pause',
  tag: 'control',
  summary: 'Pause a run at its next step boundary',
  description: 'The running step finishes and is stored. Pausing a paused run changes nothing.',
  access: 'secret',
  reply: run('The run, paused'),
  errors: ['not_found', 'run_terminal'],
  examples: [{ summary: 'Pause an order', path: { id: SAMPLE_RUN_ID }, reply: SAMPLE_PAUSED }],
} as const satisfies Operation

export const resumeRun = {
  id: 'resumeRun',
  method: 'POST',
  path: '/runs/{id}/resume',
  tag: 'control',
  summary: 'Resume a paused run from its next step',
  access: 'secret',
  reply: run('The run, queued'),
  errors: ['not_found', 'run_not_paused'],
  examples: [{ summary: 'Resume an order', path: { id: SAMPLE_RUN_ID }, reply: SAMPLE_RESUMED }],
} as const satisfies Operation

export const replayRun = {
  id: 'replayRun',
  method: 'POST',
  path: '/runs/{id}/replay',
  tag: 'control',
  summary: 'Run a finished run again from the start, as a new run',
  access: 'secret',
  body: { schema: ReplayRequestSchema, required: false },
  reply: run('The new run'),
  errors: ['not_found', 'run_not_finished', 'namespace_suspended'],
  examples: [
    { summary: 'Replay with the same input', path: { id: SAMPLE_RUN_ID }, reply: SAMPLE_FORK },
    {
      summary: 'Replay with a corrected order',
      path: { id: SAMPLE_RUN_ID },
      body: { input: { ...SAMPLE_ORDER, total: 3900 } },
      reply: SAMPLE_FORK,
    },
  ],
} as const satisfies Operation

export const retryRunFromStep = {
  id: 'retryRunFromStep',
  method: 'POST',
  path: '/runs/{id}/retry-from-step',
  tag: 'control',
  summary: 'Run a finished run again from a step on, as a new run that keeps the results of earlier steps',
  access: 'secret',
  body: { schema: RetryFromStepRequestSchema, required: true },
  reply: run('The new run'),
  errors: ['not_found', 'step_not_found', 'run_not_finished', 'namespace_suspended'],
  examples: [
    {
      summary: 'Charge the card again',
      path: { id: SAMPLE_RUN_ID },
      body: { step: 'charge-card' },
      reply: SAMPLE_FORK,
    },
  ],
} as const satisfies Operation

export const bulkReplayRuns = {
  id: 'bulkReplayRuns',
  method: 'POST',
  path: '/runs/bulk-replay',
  tag: 'control',
  summary: 'Replay every finished run that matches a filter, newest first, up to a limit per call',
  access: 'secret',
  body: { schema: BulkReplayRequestSchema, required: true },
  reply: { status: 200, description: 'Counts of the matching runs', schema: BulkReplayReplySchema },
  errors: ['namespace_suspended'],
  examples: [
    {
      summary: 'Replay every order that failed since nine',
      body: { workflow: 'fulfil-order', status: 'failed', since: '2025-03-01T09:00:00Z' },
      reply: { matched: 2, replayed: 2, skipped: 0, failed: 0, capped: false },
    },
  ],
} as const satisfies Operation

export const listControlActions = {
  id: 'listControlActions',
  method: 'GET',
  path: '/control-actions',
  tag: 'control',
  summary: 'List control actions, newest first',
  access: 'read',
  query: {
    action: { kind: 'enum', values: CONTROL_ACTIONS, description: 'Only actions of this kind' },
    runId: {
      kind: 'name',
      maxLength: ID_CHARS_MAX,
      description: 'Only actions on this run, or that created it as a fork',
    },
    limit: {
      kind: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Maximum number of entries',
    },
  },
  reply: { status: 200, description: 'Audit entries', schema: Type.Array(ControlActionSchema) },
  errors: [],
  examples: [
    {
      summary: 'Who acted on this run',
      query: { runId: SAMPLE_RUN_ID, limit: '10' },
      reply: [
        {
          id: 'act_01JD90H2C5E8G1J4M7P0S3V6YB',
          action: 'replay',
          runId: SAMPLE_RUN_ID,
          newRunId: SAMPLE_FORK_ID,
          actor: 'ops',
          createdAt: '2025-03-01T10:00:00.000Z',
        },
      ],
    },
  ],
} as const satisfies Operation
