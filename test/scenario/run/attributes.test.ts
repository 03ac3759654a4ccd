// Attributes of runs: their origin, changes by handlers, and how lists find runs by them
// (docs/concepts.md#attributes).

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { child, flow, type Handler, type Reply, run, scenario, unique } from '../../kit/index.ts'
import { opcode, stepId } from '../../kit/runner/wire.ts'

const { api, clock, workflow } = await scenario()

const FEATURES = { features: ['attributes'] }
const value = unique('customer')

const ids = (runs: RunSummary[]) => runs.map(({ id }) => id).sort()
const withAttributes = (...texts: string[]) =>
  api.runs(`?${texts.map(text => `attribute=${encodeURIComponent(text)}`).join('&')}`)

/** A handler with one step. Its first and last answers report these attributes. */
function reporting(first: unknown, last?: unknown): Handler {
  return ({ steps }): Reply => {
    const isLast = stepId('a') in steps
    const attributes = isLast ? last : first
    const report = attributes === undefined ? {} : { attributes }
    if (isLast) return { status: 200, body: { data: 1, logs: [], ...report } }
    return { status: 206, body: { opcodes: [opcode('StepRun', 'a', { data: 1 })], logs: [], ...report } }
  }
}

/** A run of a new workflow whose runner knows attributes. */
async function startReporting(handler: Handler, event: object = {}, registration: Record<string, unknown> = {}) {
  const { name, runner } = await workflow(handler, { registration })
  await runner.register(api, FEATURES)
  return api.send({ name, ...event })
}

test('a number that loses digits is refused: two customers would become one', async () => {
  const body = '{"name":"x","attributes":{"customer":9007199254740993}}'
  const answer = await api.request('POST', '/events', { headers: { 'content-type': 'application/json' }, body })
  expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(answer.text).toContain('attributes.customer must be at most 9007199254740991, as larger numbers lose digits')
})

describe('a new run has attributes', () => {
  test('of its event, then those of the registration; and lists find it by all of them', async () => {
    const { runId } = await startReporting(
      flow([]),
      { attributes: { plan: 'pro', vip: true }, data: { customer: value, total: 12.5, plan: 'free' } },
      {
        attributes: {
          customer: 'event.data.customer',
          total: 'event.data.total',
          plan: 'event.data.plan',
          none: 'null',
          fails: 'event.data.missing',
          long: '"x".size() > 0 ? event.name + event.data.customer : ""',
        },
      },
    )
    const { attributes } = await api.reaches(runId, 'succeeded')
    expect(attributes).toMatchObject({ customer: value, total: 12.5, plan: 'pro', vip: true })
    expect(Object.keys(attributes ?? {}).sort()).toEqual(['customer', 'long', 'plan', 'total', 'vip'])
    for (const texts of [[`customer:${value}`], ['vip:true', `customer:${value}`], [`customer:${value}`, 'total:12.5']])
      expect(ids(await withAttributes(...texts)), String(texts)).toEqual([runId])
    expect(await withAttributes(`customer:${value}`, 'plan:free')).toEqual([])
    expect(await withAttributes(`customer:${value}`, 'plan:pro', 'plan:free')).toEqual([])
  })

  test('of its parent, those that its workflow inherits; a fork has all of its source', async () => {
    const customer = unique('c')
    const kid = await workflow(flow([run('a')]), { registration: { inheritAttributes: ['customer', 'none'] } })
    const parent = await workflow(flow([child('kid', kid.name)]), { app: kid.app })
    const { runId } = await api.send({ name: parent.name, attributes: { customer, plan: 'pro' } })
    await api.succeeded(runId)
    const [its] = await api.runs(`?parentRunId=${runId}`)
    expect(its?.attributes).toEqual({ customer })
    const fork = (await api.post(`/runs/${runId}/replay`, {})).json as RunSummary
    expect(fork.attributes).toEqual({ customer, plan: 'pro' })
    await api.succeeded(fork.id)
    expect(await withAttributes(`customer:${customer}`)).toHaveLength(4)
  })

  test('of all events of its batch, where a later one counts more', async () => {
    const { name } = await workflow(flow([]), { registration: { batch: { maxSize: 2, timeout: '1h' } } })
    await api.post('/events', { name, attributes: { a: 1, b: 1 } })
    const { runId } = await api.send({ name, attributes: { b: 2, c: 2 } })
    expect((await api.run(runId)).attributes).toEqual({ a: 1, b: 2, c: 2 })
  })

  test('that its event was sent with, when it arrives later', async () => {
    const { name } = await workflow(flow([]))
    await api.post('/events', { name, delay: '1h', attributes: { at: name } })
    expect(JSON.stringify((await api.get('/scheduled-events')).json)).toContain(`"attributes":{"at":"${name}"}`)
    clock.jump(3_600_001)
    await expect.poll(() => withAttributes(`at:${name}`)).toHaveLength(1)
  })
})

describe('a handler', () => {
  test('sets and removes attributes with the steps of its pass, and with its result', async () => {
    const handler = reporting({ stage: 'one', plan: null, gone: null }, { stage: 'two', vip: false })
    const { runId } = await startReporting(handler, { attributes: { plan: 'free', kept: 1 } })
    expect((await api.succeeded(runId)).attributes).toEqual({ kept: 1, stage: 'two', vip: false })
    const [listed] = await api.runs(`?ids=${runId}`)
    expect(listed?.attributes).toEqual({ kept: 1, stage: 'two', vip: false })
    expect(ids(await withAttributes('kept:1', 'stage:two'))).toContain(runId)
    expect(ids(await withAttributes('kept:1', 'plan:free'))).not.toContain(runId)
  })

  test('of a runner that does not name the feature reports none', async () => {
    const { name } = await workflow(reporting({ stage: 'one' }, 7))
    const { runId } = await api.send({ name })
    expect(await api.succeeded(runId)).not.toHaveProperty('attributes')
  })

  test.each([
    [{ 'a b': 1 }, 'invalid_response', '/attributes/a b must have a key of 1 to 64 letters'],
    [{ a: [1] }, 'invalid_response', '/attributes/a must be a string of up to 256 characters, a number up to 2^53 - 1'],
    [
      { a: 2 ** 53 },
      'invalid_response',
      '/attributes/a must be a string of up to 256 characters, a number up to 2^53 - 1',
    ],
    [{ a: 'x'.repeat(257) }, 'invalid_response', '/attributes/a must be a string of up to 256'],
    [{ ['k'.repeat(999)]: 1 }, 'invalid_response', `/attributes/${'k'.repeat(88)} must have a key`],
    [7, 'invalid_response', '/attributes'],
    [Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, i])), 'limit_exceeded', '32 attributes'],
  ])('that reports %j fails its run', async (attributes, code, message) => {
    const { runId } = await startReporting(reporting(attributes))
    const { error } = await api.failed(runId)
    expect(error?.code).toBe(code)
    expect(error?.message).toContain(message)
  })
})

test.each([
  [{ 'a b': 1 }, 'attributes'],
  [{ a: null }, 'attributes.a'],
  [{ a: 'x'.repeat(257) }, '256'],
  [{ ['k'.repeat(65)]: 1 }, '64'],
  [Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, i])), '32'],
  ['a:1', 'attributes'],
])('an event with the attributes %j is refused', async (attributes, named) => {
  const { status, code, text } = await api.post('/events', { name: 'any', attributes })
  expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' })
  expect(text).toContain('attributes')
  expect(text).toContain(named)
})

test.each([
  [{ attributes: { a: 'event.data.' } }, 'attributes.a'],
  [{ attributes: { a: '[1]' } }, 'attributes.a'],
  [{ attributes: { 'a b': '1' } }, 'attributes'],
  [{ inheritAttributes: ['a b'] }, 'inheritAttributes[0]'],
  [{ inheritAttributes: 'a' }, 'inheritAttributes'],
])('a registration with %j is refused', async (fields, named) => {
  const body = { app: 'shop', url: 'http://127.0.0.1:9/', workflows: [{ name: 'order', ...fields }] }
  const { status, text } = await api.post('/register', body)
  expect(status).toBe(400)
  expect(text).toContain(named)
})

test.each([
  ['attribute=customer', 'key:value'],
  ['attribute=:x', 'key:value'],
  ['attribute=a%20b:x', 'key:value'],
  [`attribute=a:${'x'.repeat(257)}`, '256'],
  [Array.from({ length: 33 }, (_, i) => `attribute=a:${i}`).join('&'), '32'],
])('a list with %s is refused', async (query, named) => {
  const { status, code, text } = await api.get(`/runs?${query}`)
  expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' })
  expect(text).toContain(named)
})
