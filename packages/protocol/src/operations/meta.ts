// The operation that serves the OpenAPI document.

import Type from 'typebox'
import type { Operation } from './operation.ts'

export const getOpenapi = {
  id: 'getOpenapi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'meta',
  summary: 'Read the OpenAPI 3.1 document of this API',
  access: 'public',
  reply: {
    status: 200,
    description: 'The document',
    schema: Type.Record(Type.String(), Type.Unknown()),
  },
  errors: [],
  examples: [{ summary: 'The document' }],
} as const satisfies Operation
