// Operations that show the runs and events that a run or an event started.

import * as api from '../api/schema.ts'
import { type Operation, ok } from './operation.ts'
import * as sample from './samples.ts'

const RUN_NODE = {
  type: 'run',
  id: sample.RUN_ID,
  workflow: 'fulfil-order',
  app: 'shop',
  status: 'succeeded',
  createdAt: '2025-03-01T09:00:00.000Z',
  startedAt: '2025-03-01T09:00:00.004Z',
  finishedAt: '2025-03-01T09:00:01.360Z',
  durationMs: 1356,
} as const

const DESCRIPTION =
  'The root comes first, then each level after the one above, each node with the id of its parent. `via` says how the parent made it: `child`, `onFailure` and `cleanup` of a run, `fork` by replay or retry from a step, `emit` by a step, `trigger` of an event. At most 8 levels and 500 nodes.'

export const trees = {
  getRunTree: {
    method: 'GET',
    path: '/runs/{id}/tree',
    summary: 'Show the tree of a run: its children, forks and emitted events, and all that those started',
    description: DESCRIPTION,
    access: 'read',
    reply: ok('The tree', api.TreeSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'An order without children',
        path: { id: sample.RUN_ID },
        reply: { nodes: [{ ...RUN_NODE, depth: 0, via: 'root' }], truncated: false },
      },
    ],
  },

  getEventTree: {
    method: 'GET',
    path: '/events/{id}/tree',
    summary: 'Show the tree of an event: the runs that it started, and all that those started',
    description: DESCRIPTION,
    access: 'read',
    reply: ok('The tree', api.TreeSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'An event that started an order',
        path: { id: sample.EVENT_ID },
        reply: {
          nodes: [
            {
              type: 'event',
              id: sample.EVENT_ID,
              depth: 0,
              via: 'root',
              name: 'order/placed',
              createdAt: '2025-03-01T09:00:00.000Z',
            },
            { ...RUN_NODE, parentId: sample.EVENT_ID, depth: 1, via: 'trigger' },
          ],
          truncated: false,
        },
      },
    ],
  },
} as const satisfies Record<string, Operation>
