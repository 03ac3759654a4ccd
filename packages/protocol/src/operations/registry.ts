// Operations that register runners and connect them, and that list apps, runners and workflows.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import * as wire from '../wire/schema.ts'
import { limits } from './limits.ts'
import { APP_PARAM, type Operation, ok } from './operation.ts'
import * as sample from './samples.ts'

export const registry = {
  register: {
    method: 'POST',
    path: '/register',
    summary: 'Register a runner and its workflows; a repeated registration is the heartbeat',
    access: 'runner',
    anyQuery: true,
    body: { schema: wire.RegisterRequestSchema, required: true, anyMembers: true },
    reply: ok('Registered', wire.RegisterReplySchema),
    errors: ['protocol_mismatch'],
    examples: [
      {
        summary: 'A runner of the shop',
        body: sample.REGISTRATION,
        reply: {
          ok: true,
          protocolVersion: 1,
          runnerId: 'shop-1',
          workflows: 1,
          heartbeatMs: 30_000,
          staleAfterMs: 90_000,
          warnings: [],
        },
      },
    ],
  },

  connect: {
    method: 'GET',
    path: '/connect',
    summary: 'Connect as a runner over a WebSocket',
    description:
      'A WebSocket of the subprotocol `engine.connect.v0`: the runner registers and receives invokes on the socket, so it ' +
      'needs no inbound address. If the engine refuses the key, it sends the reason in an `error` frame and closes the ' +
      'socket with 4401; a request that is not an upgrade is `invalid_request`.',
    access: 'runner',
    anyQuery: true,
    reply: {
      status: 101,
      description: 'The socket is open; `X-Engine-Signature` signs its `Sec-WebSocket-Key`',
    },
    errors: ['overloaded'],
  },

  listApps: {
    method: 'GET',
    path: '/apps',
    summary: 'List apps by name',
    access: 'read',
    reply: ok('Every app', Type.Array(api.AppSchema)),
    examples: [{ summary: 'Every app', reply: [{ name: 'shop', createdAt: '2025-03-01T08:59:00.000Z' }] }],
  },

  listRunners: {
    method: 'GET',
    path: '/runners',
    summary: 'List runners, including stale ones',
    access: 'read',
    query: { app: APP_PARAM },
    reply: ok('Every runner', Type.Array(api.RunnerSchema)),
    examples: [
      {
        summary: 'The runners of the shop',
        query: { app: 'shop' },
        reply: [
          {
            runnerId: 'shop-1',
            app: 'shop',
            url: sample.REGISTRATION.url,
            runtime: 'node',
            lastSeenAt: '2025-03-01T09:00:00.000Z',
            live: true,
          },
        ],
      },
    ],
  },

  listWorkflows: {
    method: 'GET',
    path: '/workflows',
    summary: 'List workflow definitions',
    access: 'read',
    query: { app: APP_PARAM },
    reply: ok('Every workflow', Type.Array(api.WorkflowSchema)),
    examples: [{ summary: 'The workflows of the shop', query: { app: 'shop' }, reply: [sample.WORKFLOW] }],
  },

  pauseWorkflow: {
    method: 'POST',
    path: '/workflows/{app}/{name}/pause',
    summary: 'Pause a workflow: its new runs stay queued',
    description:
      'Events, parents, schedules and forks still create runs, which wait. Runs that have started go on. Pausing a paused workflow changes nothing.',
    access: 'secret',
    reply: ok('The workflow', api.WorkflowSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'Hold new orders',
        path: { app: 'shop', name: 'fulfil-order' },
        reply: { ...sample.WORKFLOW, pausedAt: '2025-03-01T10:00:00.000Z' },
      },
    ],
  },

  resumeWorkflow: {
    method: 'POST',
    path: '/workflows/{app}/{name}/resume',
    summary: 'Resume a paused workflow: the runs that wait start, in their order',
    access: 'secret',
    reply: ok('The workflow', api.WorkflowSchema),
    errors: ['not_found'],
    examples: [{ summary: 'Take orders again', path: { app: 'shop', name: 'fulfil-order' }, reply: sample.WORKFLOW }],
  },

  ...limits,
} as const satisfies Record<string, Operation>
