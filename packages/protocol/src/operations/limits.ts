// Operations of what flow control holds back.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { NAME_CHARS_MAX } from '../wire/bounds.ts'
import { APP_PARAM, type Operation, ok } from './operation.ts'
import * as sample from './samples.ts'

export const limits = {
  listLimits: {
    method: 'GET',
    path: '/limits',
    summary: 'List the concurrency limits and throttles that runs hold or wait for, those with the most waiting first',
    description:
      'The runs that have the places of a limit, and how many wait for one. Of each kind, the 10,000 oldest waiting runs are counted.',
    access: 'read',
    query: {
      app: { ...APP_PARAM, description: 'Only runs of this app' },
      workflow: { kind: 'name', maxLength: NAME_CHARS_MAX, description: 'Only runs of this workflow' },
      limit: { kind: 'integer', minimum: 1, maximum: 200, default: 100, description: 'Limits' },
    },
    reply: ok('The limits', Type.Array(api.LimitStatusSchema)),
    examples: [
      {
        summary: 'Limits of the shop',
        query: { app: sample.RUN.app },
        reply: [
          {
            kind: 'concurrency',
            scope: 'workflow',
            app: sample.RUN.app,
            workflow: sample.RUN.workflow,
            key: 'acct-17',
            limit: 1,
            held: 1,
            waiting: 41,
            oldestAt: '2025-03-01T08:40:00.000Z',
            holders: [
              {
                runId: sample.RUN_ID,
                workflow: sample.RUN.workflow,
                app: sample.RUN.app,
                startedAt: '2025-03-01T09:00:00.000Z',
              },
            ],
          },
        ],
      },
    ],
  },
} as const satisfies Record<string, Operation>
