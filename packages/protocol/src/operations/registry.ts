// Operations that register runners and connect them, and that list apps, runners and workflows.

import Type from 'typebox'
import { AppSchema, RunnerSchema, WorkflowSchema } from '../api/schema.ts'
import { RegisterReplySchema, RegisterRequestSchema } from '../wire/schema.ts'
import { APP_PARAM, type Operation } from './operation.ts'
import { SAMPLE_REGISTRATION, SAMPLE_WORKFLOW } from './samples.ts'

export const register = {
  id: 'register',
  method: 'POST',
  path: '/register',
  tag: 'registry',
  summary: 'Register a runner and its workflows; a repeated registration is the heartbeat',
  access: 'runner',
  body: { schema: RegisterRequestSchema, required: true },
  reply: { status: 200, description: 'Registered', schema: RegisterReplySchema },
  errors: ['protocol_mismatch'],
  examples: [
    {
      summary: 'A runner of the shop',
      body: SAMPLE_REGISTRATION,
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
} as const satisfies Operation

export const connect = {
  id: 'connect',
  method: 'GET',
  path: '/connect',
  tag: 'registry',
  summary: 'Connect as a runner over a WebSocket',
  description:
    'A WebSocket of the subprotocol `engine.connect.v0`: the runner registers and receives invokes on the socket, so it ' +
    'needs no inbound address. If the engine refuses the key, it sends the reason in an `error` frame and closes the ' +
    'socket with 4401; a request that is not an upgrade is `invalid_request`.',
  access: 'runner',
  reply: {
    status: 101,
    description: 'The socket is open; `X-Engine-Signature` signs its `Sec-WebSocket-Key`',
  },
  errors: ['overloaded'],
} as const satisfies Operation

export const listApps = {
  id: 'listApps',
  method: 'GET',
  path: '/apps',
  tag: 'registry',
  summary: 'List apps by name',
  access: 'read',
  reply: { status: 200, description: 'Every app', schema: Type.Array(AppSchema) },
  errors: [],
  examples: [{ summary: 'Every app', reply: [{ name: 'shop', createdAt: '2025-03-01T08:59:00.000Z' }] }],
} as const satisfies Operation

export const listRunners = {
  id: 'listRunners',
  method: 'GET',
  path: '/runners',
  tag: 'registry',
  summary: 'List runners, including stale ones',
  access: 'read',
  query: { app: APP_PARAM },
  reply: { status: 200, description: 'Every runner', schema: Type.Array(RunnerSchema) },
  errors: [],
  examples: [
    {
      summary: 'The runners of the shop',
      query: { app: 'shop' },
      reply: [
        {
          runnerId: 'shop-1',
          app: 'shop',
          url: SAMPLE_REGISTRATION.url,
          runtime: 'node',
          lastSeenAt: '2025-03-01T09:00:00.000Z',
          live: true,
        },
      ],
    },
  ],
} as const satisfies Operation

export const listWorkflows = {
  id: 'listWorkflows',
  method: 'GET',
  path: '/workflows',
  tag: 'registry',
  summary: 'List workflow definitions',
  access: 'read',
  query: { app: APP_PARAM },
  reply: { status: 200, description: 'Every workflow', schema: Type.Array(WorkflowSchema) },
  errors: [],
  examples: [{ summary: 'The workflows of the shop', query: { app: 'shop' }, reply: [SAMPLE_WORKFLOW] }],
} as const satisfies Operation
