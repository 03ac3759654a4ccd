// The OpenAPI document against the operations, and the error codes that operations list.

import { describe, expect, test } from 'vitest'
import { errorsOf, type Operation, operations } from '../operations/index.ts'
import { openApiDocument } from './document.ts'
import { NAMED_SCHEMAS } from './schema-names.ts'

const document = openApiDocument('1.2.3')
type Responses = Record<string, { description: string }>
const all = Object.entries<Operation>(operations)

describe('the OpenAPI document', () => {
  test('has every operation under its path and method, and the given version', () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
    )
    const known = all.map(([id, { method, path }]) => `${id} ${method.toLowerCase()} ${path}`)
    expect(described.sort()).toEqual(known.sort())
    expect(document.info.version).toBe('1.2.3')
  })

  test('refers to named schemas, and only to those that it contains', () => {
    const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
    const missing = targets.map(([, name]) => name).filter(name => !Object.hasOwn(NAMED_SCHEMAS, name as string))
    expect(missing).toEqual([])
    expect(JSON.stringify(document.paths['/runs/{id}']?.get)).toContain('"#/components/schemas/Run"')
    expect(JSON.stringify(document.components.schemas.Run)).toContain('"#/components/schemas/RunStatus"')
  })

  test('has lists of 1 to 200 rows, 100 by default, but for those of the first version and steps', () => {
    const limits = all.flatMap(([id, { query }]) => (query?.limit?.kind === 'integer' ? [{ id, ...query.limit }] : []))
    const others = limits.filter(limit => limit.minimum !== 1 || limit.maximum !== 200 || limit.default !== 100)
    expect(limits.length - others.length).toBeGreaterThanOrEqual(10)
    expect(others.map(({ id }) => id).sort()).toEqual([
      'listControlActions',
      'listEvents',
      'listRunLogs',
      'listRunSteps',
      'listRuns',
      'listWebhookDeliveries',
    ])
  })

  test('lists every error code of an operation at its status', () => {
    const responses = document.paths['/runs/{id}/retry-from-step']?.post?.responses as Responses
    expect(Object.keys(responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ])
    expect(responses[404]?.description).toMatch(/`not_found`: .*`step_not_found`: /s)
    expect(responses[403]?.description).toMatch(/`forbidden`: .*`namespace_suspended`: /s)
  })

  test('requires no key for a public operation', () => {
    expect(document.paths['/openapi.json']?.get?.security).toEqual([])
    expect(document.paths['/runs']?.get).not.toHaveProperty('security')
  })
})

describe('the operations', () => {
  test('have summaries without a full stop', () => {
    expect(all.filter(([, { summary }]) => summary.endsWith('.'))).toEqual([])
  })

  test('no two named schemas are the same', () => {
    const texts = Object.values(NAMED_SCHEMAS).map(schema => JSON.stringify(schema))
    expect(new Set(texts).size).toBe(texts.length)
  })
})

describe('errorsOf', () => {
  test('a probe has no error answers', () => {
    expect(errorsOf(operations.getHealth)).toEqual([])
  })

  test('a public operation has no errors of keys; a GET has none of bodies', () => {
    expect(errorsOf(operations.getOpenapi)).toEqual(['invalid_request', 'unavailable', 'internal'])
    expect(errorsOf(operations.getRun)).toEqual([
      'invalid_request',
      'unauthorized',
      'forbidden',
      'not_found',
      'rate_limited',
      'unavailable',
      'internal',
    ])
  })
})
