// Operations of the probes, the metrics and the OpenAPI document.

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
      description: 'The engine is not ready; `draining` is true while it shuts down',
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
