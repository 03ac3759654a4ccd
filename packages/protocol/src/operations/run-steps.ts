// Operations that read the steps and the passes of a run.

import * as api from '../api/schema.ts'
import { runs as queries } from '../queries/runs.ts'
import { type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

export const runSteps = {
  listRunSteps: {
    method: 'GET',
    path: '/runs/{id}/steps',
    summary: "List a run's steps in execution order",
    description:
      'Without `limit` and `cursor` every step that matches is in the answer. With one of them the list has pages, of 100 steps if `limit` is absent.',
    access: 'read',
    query: queries.listRunSteps,
    reply: page('The steps', api.StepRecordSchema),
    errors: ['not_found', 'invalid_cursor'],
    examples: [
      { summary: 'The steps of an order', path: { id: sample.RUN_ID }, reply: sample.STEPS },
      {
        summary: 'The first failed steps, without their results',
        path: { id: sample.RUN_ID },
        query: { status: 'failed', fields: 'summary', limit: '20' },
        reply: [],
      },
    ],
  },

  getRunStep: {
    method: 'GET',
    path: '/runs/{id}/steps/{stepId}',
    summary: 'Read one step with its attempts',
    description: 'The step is named by its `id`, as the list of steps shows it.',
    access: 'read',
    reply: ok('The step', api.StepDetailSchema),
    errors: ['not_found', 'step_not_found'],
    examples: [
      {
        summary: 'A card that was charged at the second attempt',
        path: { id: sample.RUN_ID, stepId: sample.STEPS[0].id },
        reply: sample.STEP_DETAIL,
      },
    ],
  },

  listRunPasses: {
    method: 'GET',
    path: '/runs/{id}/passes',
    summary: "List a run's passes: the calls to its runners, oldest first",
    description:
      'A pass that failed has the reason in `error`. `outcome` is `running` for the pass in progress on the engine that answers, `steps` for a pass that reported steps, `returned` for the pass with which the run succeeded, `failed`, or `none`: it had no effect, and is shown only while it is the newest.',
    access: 'read',
    query: queries.listRunPasses,
    reply: page('A page of passes', api.PassRecordSchema),
    errors: ['not_found', 'invalid_cursor'],
    examples: [{ summary: 'The passes of an order', path: { id: sample.RUN_ID }, reply: sample.PASSES }],
  },

  getRunBundle: {
    method: 'GET',
    path: '/runs/{id}/bundle',
    summary: 'Export a run with everything that belongs to it as one JSON document',
    description:
      'Run, event, definition of the workflow, versions, steps with attempts, timeline, log lines and passes. Values under keys that name a secret are redacted, as in logs. It is streamed, and at most 32 MiB long: `truncated` names a section that is not whole.',
    access: 'read',
    query: queries.getRunBundle,
    reply: ok('The bundle', api.BundleSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'An order, without its payloads',
        path: { id: sample.RUN_ID },
        query: { payloads: '0' },
        reply: {
          'perdure-bundle': 1,
          exportedAt: '2025-03-01T12:00:00.000Z',
          payloads: false,
          run: { ...sample.SUCCEEDED, input: null, result: null },
          versions: { engine: '1.0.0', runners: [{ runnerId: 'shop-1', language: 'typescript' }] },
          steps: [{ ...sample.STEP_DETAIL, data: null }],
          timeline: [],
          logs: [],
          passes: [],
        },
      },
    ],
  },
} as const satisfies Record<string, Operation>
