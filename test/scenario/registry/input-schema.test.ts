// The JSON Schema of a workflow's input at the engine (docs/schemas.md#the-schema-at-the-engine).

import { expect, test } from 'vitest'
import { flow, run, scenario, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })

const INPUT = {
  type: 'object',
  required: ['orderId', 'cents'],
  properties: { orderId: { type: 'string', pattern: '^o-[0-9]+$' }, cents: { type: 'integer', minimum: 1 } },
  additionalProperties: false,
}

async function registered(input: object) {
  const [app, name] = [unique('app'), unique('refund')]
  const definition = { handler: flow([run('pay back')]), registration: { input, description: 'Pays an order back' } }
  await engine.runner({ app, workflows: { [name]: definition } })
  return { app, name, path: `/workflows/${app}/${name}/runs` }
}

const register = (workflow: object) =>
  api.post('/register', { app: unique('app'), url: 'http://127.0.0.1:9/', workflows: [{ name: 'w', ...workflow }] })

test('it is shown, and a direct start is validated by it before anything starts', async () => {
  const { app, name, path } = await registered(INPUT)
  const shown = { name, description: 'Pays an order back', input: INPUT }
  expect((await api.get(`/workflows?app=${app}`)).json).toMatchObject([shown])
  expect((await api.get(`/workflows/${app}/${name}/definitions`)).json).toMatchObject([
    { definition: { input: INPUT } },
  ])
  const faults = ['input.cents must be at least 1, not 0', 'input.order is not allowed']
  const refusal = { code: 'invalid_request', message: faults.join('; '), details: { field: 'input', faults } }
  for (const extra of [{}, { dryRun: true }]) {
    const refused = await api.post(path, { input: { orderId: 'o-1', cents: 0, order: 1 }, ...extra })
    expect(refused).toMatchObject({ status: 400, json: { error: refusal } })
  }
  const without = await api.post(path, {})
  expect(without.json).toMatchObject({ error: { message: 'input is required: the workflow has a schema for it' } })
  expect((await api.get(`/runs?app=${app}`)).json).toEqual([])
  const started = await api.post(path, { input: { orderId: 'o-1', cents: 5 } })
  expect(started.status).toBe(201)
})

test('an event is not validated: the handler does it', async () => {
  const { name } = await registered(INPUT)
  const { runId } = await api.send({ name, data: 'no order' })
  await api.succeeded(runId)
})

test.each([
  [{ input: 'text' }, 'workflow "w": input must be an object'],
  [{ input: { properties: { a: { type: 'text' } } } }, 'workflow "w": input.properties.a.type must be one of string,'],
  [{ input: { pattern: '(?=a)' } }, 'workflow "w": input.pattern is not RE2'],
  [{ input: { pattern: '(a{1,30}){1,30}' } }, 'workflow "w": input.pattern is too large'],
  [{ input: { $ref: 'https://evil.example' } }, 'workflow "w": input.$ref must stay inside the schema'],
  [{ input: { description: 'x'.repeat(33_000) } }, 'workflow "w": input must have at most 32768 characters'],
  [{ description: 'x'.repeat(1025) }, 'workflow "w": description'],
  [{ tool: true }, 'workflow "w": tool needs input: the schema of its arguments'],
  [
    { tool: true, input: { type: 'string' } },
    'workflow "w": input.type must be object, because the workflow is a tool',
  ],
])('a registration is refused with the place of the fault: %#', async (workflow, message) => {
  const refused = await register(workflow)
  expect(refused.status).toBe(400)
  expect(refused.json).toMatchObject({ error: { message: expect.stringContaining(message) } })
})

test('many patterns together are refused', async () => {
  const patterns = Array.from({ length: 40 }, (_, i) => [`m${i}`, { pattern: `^(${i}[a-f]{1,15}){1,4}$` }])
  const refused = await register({ input: { properties: Object.fromEntries(patterns) } })
  expect(refused.json).toMatchObject({ error: { message: expect.stringContaining('larger than 2000 instructions') } })
})

test('an input that takes too long to validate is refused', async () => {
  const { path } = await registered({ anyOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }], type: 'array' })
  let input: unknown = 1
  for (let i = 0; i < 60; i++) input = [input]
  expect((await api.post(path, { input })).json).toMatchObject({
    error: { message: expect.stringContaining('input takes too long to validate') },
  })
})
