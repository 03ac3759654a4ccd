// The probes (contract §4.7), and the metrics.

import { HealthSchema, ReadinessSchema } from '../api-schema.ts'
import type { Operation } from './operation.ts'

export const getHealth = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'health',
  summary: 'Tell whether the process serves; checks no dependency',
  access: 'public',
  probe: true,
  reply: { status: 200, description: 'It serves', schema: HealthSchema },
  errors: [],
  examples: [{ summary: 'It serves', reply: { status: 'ok' } }],
} as const satisfies Operation

export const getReadiness = {
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'health',
  summary: 'Tell whether the engine can work: every dependency answers, and it is not shutting down',
  access: 'public',
  probe: true,
  reply: { status: 200, description: 'It can', schema: ReadinessSchema },
  otherwise: {
    status: 503,
    description: 'It cannot: `status` is `not_ready`, and `draining` is true while it shuts down',
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
    'The numbers are those of the whole engine; apps and workflows are named of the namespace of the key alone.',
  access: 'read',
  unlogged: true,
  reply: { status: 200, description: 'The metrics', contentType: 'text/plain' },
  errors: [],
  examples: [{ summary: 'Every metric' }],
} as const satisfies Operation
