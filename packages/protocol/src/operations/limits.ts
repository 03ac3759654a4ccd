// Operations on flow control: limits that runs wait for, and buffers of events.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { registry as queries } from '../queries/registry.ts'
import { type Operation, ok, page } from './operation.ts'
import * as sample from './samples.ts'

/** The id for this example in a namespace `default`. */
const BUFFER_ID = '4w4Ud_DLFvq0AesphDZT-lt9-_jiIT7KIbVu_g0I1o0'

export const limits = {
  listLimits: {
    method: 'GET',
    path: '/limits',
    summary: 'List the concurrency limits and throttles that runs hold or wait for, those with the most waiting first',
    description:
      'The runs that have the places of a limit, and how many wait for one. Of each kind, the 10,000 oldest waiting runs are counted. With `kind=singleton`, the live runs that have the key of a singleton, the oldest first. With `kind=step`, the limits that steps share, those with the most waiting steps first.',
    access: 'read',
    query: queries.listLimits,
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
            releasedPerMin: 2.4,
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
      {
        summary: 'Singletons that are alive',
        query: { kind: 'singleton' },
        reply: [
          {
            kind: 'singleton',
            scope: 'workflow',
            app: sample.RUN.app,
            workflow: 'sync-customer',
            key: 'acct-17',
            runId: sample.RUN_ID,
            createdAt: '2025-03-01T09:00:00.000Z',
            startedAt: '2025-03-01T09:00:00.010Z',
          },
        ],
      },
      {
        summary: 'Limits that steps share',
        query: { kind: 'step' },
        reply: [
          {
            kind: 'step',
            scope: 'app',
            app: sample.RUN.app,
            name: 'openai',
            limit: 50,
            periodMs: 60_000,
            taken: 50,
            waiting: 120,
            oldestAt: '2025-03-01T08:59:00.000Z',
            nextTurnAt: '2025-03-01T09:00:01.250Z',
          },
        ],
      },
    ],
  },

  listBuffers: {
    method: 'GET',
    path: '/buffers',
    summary: 'List open buffers of debounce and batch, the soonest due first',
    description: 'Events that wait to become one run. A page may be shorter than `limit` where payloads are large.',
    access: 'read',
    query: queries.listBuffers,
    reply: page('A page of buffers', api.BufferSchema),
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'Batches that are filling',
        query: { kind: 'batch' },
        reply: [
          {
            id: BUFFER_ID,
            kind: 'batch',
            app: sample.RUN.app,
            workflow: 'index-products',
            key: 'berlin',
            count: 41,
            maxSize: 100,
            eventName: 'product/changed',
            firstEventId: 'evt_01JNA0M1S0D5Z8M6R5K4Q3W2E1',
            lastEventId: 'evt_01JNA0M9X7D5Z8M6R5K4Q3W2E2',
            firstAt: '2025-03-01T09:00:00.000Z',
            lastAt: '2025-03-01T09:00:09.000Z',
            dueAt: '2025-03-01T09:00:30.000Z',
          },
        ],
      },
    ],
  },

  flushBuffer: {
    method: 'POST',
    path: '/buffers/{id}/flush',
    summary: 'Start the run of a buffer now',
    description: 'A buffer becomes one run, also when it falls due, or its last event comes, at the same time.',
    access: 'secret',
    reply: { status: 202, description: 'The result', schema: api.FlushBufferReplySchema },
    errors: ['not_found', 'conflict', 'namespace_suspended'],
    examples: [{ summary: 'Wait no longer', path: { id: BUFFER_ID }, reply: { runId: sample.RUN_ID } }],
  },
} as const satisfies Record<string, Operation>
