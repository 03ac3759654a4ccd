// Operations that register runners and connect them, that list apps, runners and workflows, and that act on workflows.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { registry as queries } from '../queries/registry.ts'
import * as wire from '../wire/schema.ts'
import { limits } from './limits.ts'
import { created, type Operation, ok, page } from './operation.ts'
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
      'socket with 4401. A request that is not an upgrade is `invalid_request`, unless its header `X-Engine-Beats` names ' +
      'instances of sockets: it is a heartbeat for them, answered 204.',
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
    summary: 'List runners with their load, including stale ones',
    description:
      'The load is measured in memory since the engine started. Engines that share a store exchange it every 5 seconds.',
    access: 'read',
    query: queries.listRunners,
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
            workflows: [{ name: 'fulfil-order', definitionHash: 'q1J9sN0a7Lx2' }],
            definitionHash: 'Zk3vY8wTQ5hU',
            inFlight: 2,
            passesPerMin: 120,
            p95Ms: 40,
            failures: 0,
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
    query: queries.listWorkflows,
    reply: ok('Every workflow', Type.Array(api.WorkflowSchema)),
    examples: [{ summary: 'The workflows of the shop', query: { app: 'shop' }, reply: [sample.WORKFLOW] }],
  },

  listDefinitions: {
    method: 'GET',
    path: '/workflows/{app}/{name}/definitions',
    summary: 'List the definitions that a workflow has and had, the newest first',
    description:
      'A definition is added when a registration changes it; a heartbeat adds nothing. The newest 50 are kept while the workflow is registered. A page may be shorter than `limit` where definitions are large.',
    access: 'read',
    query: queries.listDefinitions,
    reply: page('A page of definitions', api.PastDefinitionSchema),
    errors: ['not_found', 'invalid_cursor'],
    examples: [
      {
        summary: 'What was registered when',
        path: { app: 'shop', name: 'fulfil-order' },
        reply: [
          {
            hash: 'q1J9sN0a7Lx2',
            registeredAt: sample.WORKFLOW.updatedAt,
            runner: 'shop-1',
            definition: {
              retry: sample.WORKFLOW.retry,
              triggers: sample.WORKFLOW.triggers,
              onFailure: sample.WORKFLOW.onFailure,
            },
          },
        ],
      },
    ],
  },

  startRun: {
    method: 'POST',
    path: '/workflows/{app}/{name}/runs',
    summary: 'Start a run of a workflow directly, without an event',
    description:
      'For every workflow, also one that only schedules start. No event is recorded. Idempotency, rate limits, debounces and batches are ' +
      'for events and do not apply; a singleton with a live run refuses the start with `already_running`, and `details.liveRunId`. With a `runId` the call can be repeated: a repeat is 200 with the ' +
      "same run, whatever its input. The id of another workflow's run, or of an erased run, is `conflict`. " +
      'With a `key` at most one live run of the workflow has that key; `ifRunning` says what a start does that meets it: 200 with that ' +
      'run, `already_running` with `details.runId`, or its cancel. `runId` is looked at before `key`.',
    access: 'secret',
    query: queries.startRun,
    body: { schema: api.StartRunSchema, required: false },
    reply: created('The new run', api.StartedRunSchema),
    otherwise: ok(
      'The run that has the `runId` already, or that is live and has the `key`; for a dry run what the call would do',
      Type.Union([api.StartedRunSchema, api.StartPreviewSchema]),
    ),
    errors: ['not_found', 'conflict', 'already_running', 'namespace_suspended'],
    examples: [
      {
        summary: 'Fulfil an order, once',
        path: { app: 'shop', name: 'fulfil-order' },
        body: { input: sample.ORDER, runId: 'run_order-4711' },
        reply: sample.STARTED,
      },
      {
        summary: 'Fulfil the order again, and cancel the live run',
        path: { app: 'shop', name: 'fulfil-order' },
        body: { input: sample.ORDER, key: 'order-4711', ifRunning: 'cancel' },
        reply: { ...sample.STARTED, id: sample.RUN_ID, key: 'order-4711' },
      },
      {
        summary: 'What a start would do',
        path: { app: 'shop', name: 'fulfil-order' },
        body: { input: sample.ORDER, dryRun: true },
        reply: { dryRun: true, workflow: 'fulfil-order', app: 'shop', outcome: 'run', policies: {} },
        otherwise: true,
      },
    ],
  },

  pauseWorkflow: {
    method: 'POST',
    path: '/workflows/{app}/{name}/pause',
    summary: 'Pause a workflow: its new runs stay queued',
    description:
      'Events, parents, schedules, forks and direct starts still create runs, which wait. Runs that have started go on. Pausing a paused workflow changes nothing.',
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
    errors: ['not_found', 'conflict'],
    examples: [{ summary: 'Take orders again', path: { app: 'shop', name: 'fulfil-order' }, reply: sample.WORKFLOW }],
  },

  setWorkflowLimits: {
    method: 'PUT',
    path: '/workflows/{app}/{name}/limits',
    summary: 'Set limits of a workflow, which override the registered ones',
    description:
      'They hold for runs that are queued already, on every engine within a second, and stay until they are removed: a registration does not change them. A limit that is not named, or `null`, is the registered one; a body without any removes both. 400 for a limit that the workflow does not register.',
    access: 'secret',
    body: { schema: api.WorkflowLimitsChangeSchema, required: true },
    reply: ok('The workflow', api.WorkflowSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'At most two orders at once',
        path: { app: 'shop', name: 'fulfil-order' },
        body: { concurrency: 2 },
        reply: { ...sample.WORKFLOW, limits: { concurrency: 2 } },
      },
    ],
  },

  removeWorkflowLimits: {
    method: 'DELETE',
    path: '/workflows/{app}/{name}/limits',
    summary: 'Remove the limits that an operator has set for a workflow: the registered ones count again',
    access: 'secret',
    reply: ok('The workflow', api.WorkflowSchema),
    errors: ['not_found'],
    examples: [{ summary: 'As registered', path: { app: 'shop', name: 'fulfil-order' }, reply: sample.WORKFLOW }],
  },

  deleteWorkflow: {
    method: 'DELETE',
    path: '/workflows/{app}/{name}',
    summary: 'Delete a workflow with its schedules and buffers',
    description:
      'Refused while runs are in flight, or a live runner serves it. With `force` a live runner loses its claim: its heartbeat does ' +
      'not bring the workflow back, another definition does. Ended runs and statistics stay.',
    access: 'secret',
    query: queries.deleteWorkflow,
    reply: { status: 204, description: 'It is deleted' },
    errors: ['not_found', 'conflict'],
    examples: [{ summary: 'A workflow that nobody serves', path: { app: 'warehouse', name: 'count-stock' } }],
  },

  deleteApp: {
    method: 'DELETE',
    path: '/apps/{app}',
    summary: 'Delete an app with its workflows and runners',
    description: 'Refused under the same conditions as the deletion of a workflow.',
    access: 'secret',
    query: queries.deleteApp,
    reply: { status: 204, description: 'It is deleted' },
    errors: ['not_found', 'conflict'],
    examples: [{ summary: 'An app that has moved away', path: { app: 'warehouse' } }],
  },

  ...limits,
} as const satisfies Record<string, Operation>
