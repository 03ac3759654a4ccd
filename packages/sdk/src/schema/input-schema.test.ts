// JSON Schemas that zod, arktype and valibot give for the input of a workflow.

import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { jsonSchemaOf } from './input-schema.ts'

test('zod: as senders give it, without what JSON Schema cannot say', () => {
  const order = z.object({
    id: z.string().regex(/^o-\d+$/),
    email: z.email(),
    password: z.string().regex(/^(?=.*\d).{8,}$/),
    count: z.number().int().default(1),
    at: z.coerce.date(),
  })
  const { registration, warning } = createWorkflow(
    { name: 'order', input: order, description: 'Takes an order' },
    () => 1,
  )
  expect(warning).toBeUndefined()
  expect(registration).toMatchObject({
    description: 'Takes an order',
    input: {
      type: 'object',
      required: ['id', 'email', 'password', 'at'],
      properties: { id: { type: 'string', pattern: '^o-\\d+$' }, count: { type: 'integer', default: 1 }, at: {} },
    },
  })
  expect(registration.input).toMatchObject({ properties: { email: { format: 'email' } } })
  expect(JSON.stringify(registration.input)).not.toMatch(/\(\?|\$schema/)
})

test('arktype gives one too; valibot gives none by itself', () => {
  expect(createWorkflow({ name: 'a', input: type({ n: 'number' }) }, () => 1).registration.input).toMatchObject({
    type: 'object',
    required: ['n'],
  })
  const { registration, warning } = createWorkflow({ name: 'v', input: v.object({ n: v.number() }) }, () => 1)
  expect([registration.input, warning]).toEqual([undefined, undefined])
})

test('a schema that is too long, or whose library fails, is left out with a warning', () => {
  const long = z.object(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`member${i}`, z.string()])))
  expect(jsonSchemaOf('w', long).warning).toMatch(
    /^Workflow "w" is registered without its input schema: it has \d+ characters, and 32768 are allowed$/,
  )
  const failing = {
    '~standard': {
      jsonSchema: {
        input: () => {
          throw new Error('no such target')
        },
      },
    },
  }
  expect(jsonSchemaOf('w', failing as never).warning).toMatch(/: no such target$/)
})

test('a tool needs a schema', () => {
  expect(() => createWorkflow({ name: 'v', tool: true, input: v.object({}) }, () => 1)).toThrow(
    'Workflow "v" cannot be a tool: its input schema cannot be converted to JSON Schema',
  )
})
