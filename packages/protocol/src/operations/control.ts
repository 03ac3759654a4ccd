// Operations that act on runs, and the audit log of such actions.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { control as queries } from '../queries/control.ts'
import { BudgetChangesSchema } from '../wire/budget-schema.ts'
import { created, type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

export const control = {
  cancelRun: {
    method: 'POST',
    path: '/runs/{id}/cancel',
    summary: 'Cancel a run, its running steps and its children',
    access: 'secret',
    body: { schema: api.CancelRequestSchema, required: false },
    reply: ok('The run, cancelled', api.RunSummarySchema),
    errors: ['not_found', 'run_terminal'],
    examples: [
      { summary: 'Cancel an order', path: { id: sample.RUN_ID }, reply: sample.CANCELLED },
      {
        summary: 'Cancel an order and undo nothing',
        path: { id: sample.RUN_ID },
        body: { cleanup: false },
        reply: sample.CANCELLED,
      },
    ],
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

  settleStep: {
    method: 'POST',
    path: '/runs/{id}/steps/{stepId}/settle',
    summary: 'Settle an outstanding step by hand, and continue the run',
    description:
      'For a step that waits, sleeps, runs or will be retried. The step is named by its id, or by its name with `:n` for repeats. A later result of it is dropped; a child that it started continues until its parent ends. Steps that run in the same pass as the step start again. 409 when the step is settled or the run has ended.',
    access: 'secret',
    body: { schema: api.SettleStepRequestSchema, required: true },
    reply: ok('The step, settled', api.StepRecordSchema),
    errors: ['not_found', 'step_not_found', 'conflict'],
    examples: [
      {
        summary: 'Continue without the event',
        path: { id: sample.RUN_ID, stepId: 'parcel-left' },
        body: { data: null, reason: 'The carrier confirmed it by phone' },
        reply: sample.SETTLED_STEP,
      },
    ],
  },

  setRunBudget: {
    method: 'POST',
    path: '/runs/{id}/budget',
    summary: 'Set limits of the budget of a run, and resume the runs that wait for it',
    description:
      'For a run with a budget of its own, or any run of its chain. `null` removes a limit; limits that are not named stay. A new name is counted from then on. The runs of the tree that are paused for this budget are resumed; those that are still beyond a limit are paused again. The call may be repeated. 409 for a run without a budget of its own, which names the runs above it that have one, and for one that has ended.',
    access: 'secret',
    body: { schema: BudgetChangesSchema, required: true },
    reply: ok('The budget as it is now', api.SetBudgetReplySchema),
    errors: ['not_found', 'conflict', 'run_terminal'],
    examples: [
      {
        summary: 'Let an order spend up to ten dollars and any number of tokens',
        path: { id: sample.RUN_ID },
        body: { usd: 10, tokens: null },
        reply: { runId: sample.RUN_ID, budget: { usd: { limit: 10, spent: 5.013 } }, resumed: 1 },
      },
    ],
  },

  createRunToken: {
    method: 'POST',
    path: '/runs/{id}/tokens',
    summary: 'Make a token that reads one run, for a browser',
    description:
      'The token opens `GET /runs/{id}`, its result, its timeline and its output streams, for all runs of the chain, without the input, the attributes, log lines and the stacks of errors. It ends with its time, with the key that made it, and while the namespace is suspended.',
    access: 'read',
    body: { schema: api.CreateRunTokenSchema, required: false },
    reply: created('The token', api.RunTokenSchema),
    errors: ['not_found', 'namespace_suspended'],
    examples: [
      {
        summary: 'A token for a quarter of an hour',
        path: { id: sample.RUN_ID },
        body: { ttl: '15m' },
        reply: sample.RUN_TOKEN,
      },
    ],
  },

  completeCallback: {
    method: 'POST',
    path: '/callbacks/{token}',
    summary: 'Complete a step that waits for its callback',
    description:
      'The token is the key: no API key is needed, and pages of every origin may post. A callback can be used once. A callback that arrives before its step waits is kept; at most 1,000 for one run, 32 MiB in total. Without a body, or with `null`, the step gets `{}`. A paused run and a suspended namespace take it. At most 10 posts a second for each token.',
    access: 'public',
    body: { schema: Type.Unknown({ description: 'Any JSON, up to 1 MiB: the result of the step' }), required: false },
    reply: {
      status: 202,
      description: 'The callback is stored',
      schema: Type.Object({ ok: Type.Literal(true) }),
    },
    errors: ['not_found', 'callback_used', 'gone', 'conflict', 'rate_limited'],
    examples: [
      {
        summary: 'Approve an expense',
        path: { token: sample.CALLBACK_TOKEN },
        body: { approved: true, by: 'ada' },
        reply: { ok: true },
      },
    ],
  },

  signalRun: {
    method: 'POST',
    path: '/runs/{id}/signals/{name}',
    takesSlashes: true,
    summary: 'Send a signal to a run',
    description:
      'An event of the log for this run alone: it starts nothing. It is kept until a `step.waitForSignal` of its name takes it. A run that continued as another is followed. The name has 1 to 128 letters, digits, `_`, `.`, `:`, `/` or `-`. 409 `run_ended` when the run has ended, `conflict` when it has received 10,000 signals.',
    access: 'event',
    body: { schema: api.SendSignalSchema, required: false },
    reply: { status: 202, description: 'The signal is stored', schema: api.SignalReplySchema },
    errors: ['not_found', 'run_ended', 'conflict'],
    examples: [
      {
        summary: 'Change the address of an order',
        path: { id: sample.RUN_ID, name: 'address' },
        body: { data: { street: '1 High Street' }, dedupeId: 'form-4711' },
        reply: { eventId: sample.EVENT_ID, woke: 1 },
      },
    ],
  },

  updateRun: {
    method: 'POST',
    path: '/runs/{id}/updates/{name}',
    takesSlashes: true,
    summary: 'Send an update to a run, and wait for the answer',
    description:
      'A signal that the handler answers, by `signal.reply` or `signal.reject`. 202 when `wait` is over: the answer is read by `GET /runs/{id}/updates/{updateId}`, or by the same call with the same `dedupeId`. 409 `rejected` with the message of the handler, and `run_ended` when the run ends without an answer.',
    access: 'event',
    query: queries.updateRun,
    body: { schema: api.SendSignalSchema, required: false },
    reply: ok('The answer of the handler', api.UpdateReplySchema),
    otherwise: { status: 202, description: 'The update is stored; no answer yet', schema: api.OpenUpdateSchema },
    errors: ['not_found', 'run_ended', 'rejected', 'conflict'],
    examples: [
      {
        summary: 'Add an item to an order',
        path: { id: sample.RUN_ID, name: 'add-item' },
        query: { wait: '20s' },
        body: { data: { sku: 'tea', count: 2 } },
        reply: { updateId: sample.EVENT_ID, reply: { items: 3 } },
      },
    ],
  },

  getRunUpdate: {
    method: 'GET',
    path: '/runs/{id}/updates/{updateId}',
    summary: 'Read the answer to an update, and wait for it',
    access: 'read',
    query: queries.getRunUpdate,
    reply: ok('The answer of the handler', api.UpdateReplySchema),
    otherwise: { status: 202, description: 'No answer yet', schema: api.OpenUpdateSchema },
    errors: ['not_found', 'run_ended', 'rejected'],
    examples: [
      {
        summary: 'The answer to an update',
        path: { id: sample.RUN_ID, updateId: sample.EVENT_ID },
        query: { wait: '20s' },
        reply: { updateId: sample.EVENT_ID, reply: { items: 3 } },
      },
    ],
  },

  listRunSignals: {
    method: 'GET',
    path: '/runs/{id}/signals',
    summary: 'List the signals and updates that no step of the run has taken',
    access: 'read',
    reply: ok('The oldest of them', api.WaitingSignalsSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'Signals that an order has not received',
        path: { id: sample.RUN_ID },
        reply: {
          signals: [
            { eventId: sample.EVENT_ID, name: 'address', kind: 'signal', receivedAt: '2025-03-01T09:00:00.000Z' },
          ],
        },
      },
    ],
  },

  eraseRun: {
    method: 'DELETE',
    path: '/runs/{id}',
    summary: 'Erase a finished run with its steps, logs, timeline and deliveries',
    description:
      'The payload of its event is erased too, unless another run uses it; the record of the event stays. The entry in the audit log stays. The id is never used again.',
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
