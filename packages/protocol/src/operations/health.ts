// Operations of the probes and the metrics.

import { HealthSchema, ReadinessSchema } from '../api/schema.ts'
import type { Operation } from './operation.ts'

export const getHealth = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'health',
  summary: 'Check that the process serves requests; checks no dependency',
  access: 'public',
  probe: true,
  reply: { status: 200, description: 'The process serves requests', schema: HealthSchema },
  errors: [],
  examples: [{ summary: 'The process serves requests', reply: { status: 'ok' } }],
} as const satisfies Operation

export const getReadiness = {
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'health',
  summary: 'Check that the engine can work: every dependency answers, and the engine is not shutting down',
  access: 'public',
  probe: true,
  reply: { status: 200, description: 'The engine is ready', schema: ReadinessSchema },
  otherwise: {
    status: 503,
    description: 'The engine is not ready; `draining` is true while it shuts down',
    schema: ReadinessSchema,
  },
  errors: [],
  examples: [{ summary: 'Ready', reply: { status: 'ready', checks: { store: 'ok' } } }],
} as const satisfies Operation

export const getMetrics = {
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  tag: 'health',
  summary: 'Read the metrics of the engine, in the text format of Prometheus',
  description:
    'The numbers count all namespaces. Labels name apps and workflows only if they belong to the namespace of the key.',
  access: 'read',
  unlogged: true,
  reply: { status: 200, description: 'The metrics', contentType: 'text/plain' },
  errors: [],
  examples: [{ summary: 'Every metric' }],
} as const satisfies Operation
