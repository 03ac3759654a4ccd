// Runs the recipes of docs/cookbook.md: each is in `cookbook.workflows.ts` (`snippets.test.ts` checks that), and does what the page says.

import { createClient } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { testEngine } from '@perdure/sdk/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { onCleanup, scenario, skipWait, until } from '../../kit/index.ts'
import * as recipes from './cookbook.workflows.ts'

const { answers, calls } = recipes

/** Counts the calls that are under way at once. Each takes some turns of the event loop. */
function counted() {
  const counts = { most: 0, now: 0 }
  const pass = async () => {
    counts.most = Math.max(counts.most, ++counts.now)
    for (let turns = 0; turns < 50; turns++) await new Promise(resolve => setImmediate(resolve))
    counts.now--
  }
  return Object.assign(counts, { pass })
}

beforeEach(() => {
  calls.length = 0
  answers.length = 0
})

test('edits of a burst are indexed once', async () => {
  await using engine = await testEngine([recipes.reindex])
  for (let edit = 0; edit < 3; edit++) {
    await engine.send('document/edited', { documentId: 'd1' })
    await engine.advance('2s')
  }
  await engine.send('document/edited', { documentId: 'd2' })
  expect(calls).toEqual([])
  await engine.advance('5s')
  expect(calls).toEqual(['index d1', 'index d2'])
})

test('the runs of a customer go one after the other, beside those of others', async () => {
  await using engine = await testEngine([recipes.syncCustomer])
  for (const customer of ['ada', 'ada', 'bob']) await engine.send('customer/changed', { customer })
  expect(calls).toEqual(['sync ada', 'sync bob'])
  await engine.advance('10s')
  expect(calls.slice(2).sort()).toEqual(['sync ada', 'sync ada', 'sync bob'])
  await engine.advance('10s')
  expect(calls).toHaveLength(6)
})

test.each([
  ['seconds', '90'],
  ['a date', new Date(Date.now() + 90_000).toUTCString()],
])('the provider says when to come back, in %s', async (_, after) => {
  await using engine = await testEngine([recipes.translate])
  answers.push(new Response('', { status: 429, headers: { 'retry-after': after } }))
  const run = await engine.start(recipes.translate, { text: 'Hello' })
  await engine.advance('80s')
  expect(run.executions('translate')).toBe(1)
  expect(await run.result({ within: '15s' })).toEqual({ text: 'Bonjour' })
})

test('a fan-out gathers what was found, and counts the rest', async () => {
  await using engine = await testEngine([recipes.geocode])
  const atOnce = counted()
  engine.mock('find', async ({ stepName, original }) => {
    await atOnce.pass()
    if (stepName === 'find:3') throw new Error('no such place')
    return original()
  })
  const addresses = Array.from({ length: 12 }, (_, n) => `street ${n}`)
  const run = await engine.start(recipes.geocode, { addresses })
  expect(await run.result({ within: '1h' })).toMatchObject({ found: { length: 11 }, failed: 1 })
  expect(atOnce.most).toBe(5)
})

test('a night that was missed is in the report of the next', async () => {
  await using engine = await testEngine({ workflows: [recipes.nightly], startAt: '2030-01-01T12:00:00Z' })
  await engine.advance('1d')
  engine.crash()
  await engine.advance('3d')
  await engine.restart()
  await engine.advance('1d')
  const nights = [2, 5, 6].map(day => `2030-01-0${day}T01:00:00.000Z`)
  expect(calls).toEqual([
    `report 2030-01-01T01:00:00.000Z ${nights[0]}`,
    `report ${nights[0]} ${nights[1]}`,
    `report ${nights[1]} ${nights[2]}`,
  ])
})

describe('a review', () => {
  test('ends with the verdict', async () => {
    await using engine = await testEngine([recipes.review])
    const run = await engine.start(recipes.review, { editor: 'ada' })
    await engine.advance('3d')
    await run.signal('verdict', { ok: true })
    expect(await run.result()).toBe('accepted')
    expect(calls).toEqual(['mail ada: Please review', 'mail ada: A review still waits for you'])
  })

  test('ends without one after three reminders', async () => {
    await using engine = await testEngine([recipes.review])
    const run = await engine.start(recipes.review, { editor: 'ada' })
    expect(await run.result({ within: '7d' })).toBe('nobody answered')
    expect(calls).toHaveLength(4)
  })
})

test('an export shows its progress and its log', async () => {
  await using engine = await testEngine([recipes.exportRows])
  const run = await engine.start(recipes.exportRows, { pages: 3 })
  await run.result()
  expect(await run.progress()).toMatchObject({ done: 3, of: 3 })
  expect((await run.stream('log')).text.split('\n')).toHaveLength(4)
})

describe('an order', () => {
  test('that cannot be charged gives its shelf back', async () => {
    await using engine = await testEngine([recipes.order])
    const run = await engine.start(recipes.order, { orderId: '7' })
    expect((await run.failure({ within: '1d' })).message).toContain('declined')
    await (await run.cleanup())?.result()
    expect(calls).toEqual(['release shelf of 7'])
  })

  test('that is cancelled gives its shelf back', async () => {
    await using engine = await testEngine([recipes.order])
    const run = await engine.start(recipes.order, { orderId: '7' })
    await run.parkedAt('the customer may still cancel')
    await run.cancel()
    await (await run.cleanup())?.result()
    expect(calls).toEqual(['release shelf of 7'])
  })
})

test('calls of all workflows share the limit of an API', async () => {
  await using engine = await testEngine({ workflows: [recipes.greet], limits: recipes.limits })
  for (const customer of ['a', 'b', 'c']) await engine.start(recipes.greet, { customer })
  expect(calls).toEqual(['sync a', 'sync b'])
  await engine.advance('1s')
  expect(calls).toEqual(['sync a', 'sync b', 'sync c'])
})

test('an external job is polled until it ends', async () => {
  await using engine = await testEngine([recipes.render])
  const run = await engine.start(recipes.render, { video: 'v1' })
  expect(await run.result({ within: '1h' })).toBe('https://cdn.example/job of v1')
  expect(run.executions('poll')).toBe(3)
})

test('an import is done in parts, four at a time', async () => {
  await using engine = await testEngine([recipes.importFile, recipes.importPart])
  const atOnce = counted()
  engine.mock('import', async ({ original }) => {
    await atOnce.pass()
    return original()
  })
  const run = await engine.start(recipes.importFile, { file: 'rows.csv' })
  expect(await run.result()).toEqual({ rows: 4500, parts: 5 })
  expect(atOnce.most).toBe(4)
  expect(calls.sort()).toEqual(['import 0', 'import 1000', 'import 2000', 'import 3000', 'import 4000'])
})

test('an order id starts one run, and failed runs are replayed in one call', async () => {
  const { api, clock, url } = await scenario()
  const runner = await serve({ app: 'shop', workflows: [recipes.order], port: 0, engineUrl: url, log: () => {} })
  onCleanup(() => runner.close())
  await runner.ready
  const client = createClient({ url, app: 'shop' })
  const runId = await recipes.startOnce(client, 'number-7')
  expect(await recipes.startOnce(client, 'number-7')).toBe(runId)
  expect(await skipWait(api, clock, runId, 'sleep')).toBe(30 * 60_000)
  await skipWait(api, clock, runId, 'retry')
  await api.reaches(runId, 'failed')
  const bulkId = await recipes.replayFailed(client, '2020-01-01T00:00:00Z')
  const job = await until(
    async () => {
      const found = await client.getBulk({ id: bulkId })
      return found.status === 'done' && found
    },
    { what: 'the end of the bulk job' },
  )
  expect(job).toMatchObject({ done: 1, skipped: 0, failed: 0 })
})
