// The probes (contract §4.7).

import { HealthSchema, ReadinessSchema } from '../api-schema.ts'
import type { Operation } from './operation.ts'

export const getHealth = {
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'health',
  summary: 'Tell whether the process serves; checks no dependency',
  access: 'public',
  reply: { status: 200, description: 'It serves', schema: HealthSchema },
  errors: [],
} as const satisfies Operation

export const getReadiness = {
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'health',
  summary: 'Tell whether the engine can work: every dependency answers, and it is not shutting down',
  description: 'Otherwise 503 with the same body and `status: not_ready`.',
  access: 'public',
  reply: { status: 200, description: 'It can', schema: ReadinessSchema },
  errors: [],
} as const satisfies Operation
