// Operations of the probes, the metrics, the engines and the OpenAPI document.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { type Operation, ok } from './operation.ts'

export const health = {
  getHealth: {
    method: 'GET',
    path: '/healthz',
    summary: 'Check that the process serves requests; checks no dependency',
    access: 'public',
    anyQuery: true,
    probe: true,
    reply: ok('The process serves requests', api.HealthSchema),
    examples: [{ summary: 'The process serves requests', reply: { status: 'ok' } }],
  },

  getReadiness: {
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the engine can work: every dependency answers, and the engine is not shutting down',
    access: 'public',
    anyQuery: true,
    probe: true,
    reply: ok('The engine is ready', api.ReadinessSchema),
    otherwise: {
      status: 503,
      description: 'The engine is not ready; `draining` is true while it shuts down, `held` until it is released',
      schema: api.ReadinessSchema,
    },
    examples: [{ summary: 'Ready', reply: { status: 'ready', checks: { store: 'ok' } } }],
  },

  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Read the metrics of the engine, in the text format of Prometheus',
    description:
      'The numbers count all namespaces. Labels name apps and workflows only if they belong to the namespace of the key.',
    access: 'read',
    anyQuery: true,
    unlogged: true,
    reply: { status: 200, description: 'The metrics', contentType: 'text/plain' },
    examples: [{ summary: 'Every metric' }],
  },

  listEngines: {
    method: 'GET',
    path: '/engines',
    summary: 'List the engines that use the store, the oldest first',
    description:
      'The engine that answers, and on PostgreSQL the others that reported within the last 60 seconds, at most 255. The numbers count all namespaces.',
    access: 'read',
    reply: ok('The engines', Type.Array(api.EngineSchema)),
    examples: [
      {
        summary: 'An engine that is alone',
        reply: [
          {
            id: 'engine_0b6b5b5e-6f1c-4b5e-9f0e-7d2f8f1f0a11',
            self: true,
            version: '1.0.0',
            host: 'engine-1',
            pid: 7,
            startedAt: '2025-03-01T08:00:00.000Z',
            seenAt: '2025-03-01T09:00:00.000Z',
            draining: false,
            inFlight: 12,
            lanes: [
              { lane: 'runs', inFlight: 12, max: 1000, lagMs: 0 },
              { lane: 'deliveries', inFlight: 3, max: 256, lagMs: 0 },
              { lane: 'timers', inFlight: 0, max: 256, lagMs: 0 },
            ],
            sockets: 4,
            streams: 2,
            checks: { store: 'ok' },
            writes: { commits: 51_204, requests: 60_377, batches: 20_911, pending: 0 },
            queue: 'memory',
            limiter: 'memory',
            limiterEntries: 17,
            settings: { ENGINE_HOST: '127.0.0.1', ENGINE_PORT: '4777', ENGINE_RETENTION: '30d' },
            removedUpTo: { runs: '2025-01-30T09:00:00.000Z' },
          },
        ],
      },
    ],
  },

  releaseEngine: {
    method: 'POST',
    path: '/engine/release',
    summary: 'Release an engine that was started held: it claims, fires and delivers from now on',
    description:
      'Acts on the engine that answers alone. Needs a key of the namespace `default`. The engine takes it when it is not held too, and changes nothing.',
    access: 'secret',
    reply: ok('The engine works', Type.Object({ held: Type.Literal(false) })),
    examples: [{ summary: 'Release the engine', reply: { held: false } }],
  },
} as const satisfies Record<string, Operation>

export const meta = {
  getOpenapi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'Read the OpenAPI 3.1 document of this API',
    access: 'public',
    reply: ok('The document', Type.Record(Type.String(), Type.Unknown())),
    examples: [{ summary: 'The document' }],
  },
} as const satisfies Record<string, Operation>
