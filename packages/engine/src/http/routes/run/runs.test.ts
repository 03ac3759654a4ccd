// Reads of runs: exact texts, ids, cursors, and searches that take too long. test/scenario/run has the rest.

import { describe, expect, test } from 'vitest'
import { aroundReads } from '../../../../../../test/kit/http/stream.ts'
import { aRun, endedRun, eventually, messageOf, refusal, testApp } from '../../../../../../test/kit/http/test-app.ts'
import type { Reads } from '../../../ports/store-reads.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')
const { app, store, clock, timers, seed } = await testApp()
const reads: { name: keyof Reads; args: unknown[] }[] = []
/** A test that holds the lists of runs replaces it. */
let list = (read: () => Promise<unknown>, _signal: AbortSignal) => read()
aroundReads(store, (read, name, args) => {
  reads.push({ name, args })
  return name === 'runs' ? list(read, args[1] as AbortSignal) : read()
})

test('input and result keep their exact text', async () => {
  const input = '{"a":12345678901234567890,"__proto__":{"x":1.0},"a":"\\u0000\\ud800"}'
  await seed(...endedRun({ id: 'run_letter', input, result: 'null' }))
  const response = await app.inject('/runs/run_letter')
  expect(response.statusCode).toBe(200)
  expect(response.body.endsWith(`,"input":${input},"result":null}`)).toBe(true)
  expect(Buffer.byteLength(response.body)).toBe(Number(response.headers['content-length']))
})

test.each(['', '/steps', '/logs', '/stream'])('GET /runs/{id}%s of a run that does not exist', async path => {
  await seed({ type: 'run.created', run: aRun({ id: `run_${path.slice(1)}`, namespace: 'other' }) })
  reads.length = 0
  const ids = [`run_${path.slice(1)}`, '%00', 'a%0Ab', 'a%2Fb', 'x'.repeat(100), 'x'.repeat(3000), '%F0%9F%98%80']
  for (const id of ids) expect(refusal(await app.inject(`/runs/${id}${path}`))).toBe('404 not_found')
  // A text that cannot be an id causes no read.
  expect(new Set(reads.map(({ args }) => args[0]))).toEqual(new Set([ids[0]]))
})

describe('GET /runs', () => {
  test.each([
    ['', {}],
    ['_color=blue', {}],
    ['q=50%25_off', { q: '50%_off', deep: false }],
    ['q=a&deep=1', { q: 'a', deep: true }],
    ['q=&deep=1', {}],
    ['deep=1', {}],
    ['since=2024-01-02T03:04:05.678Z', { since: T }],
    ['sort=duration&dir=asc', { sort: 'duration', dir: 'asc' }],
  ])('"%s" reads %j from the store', async (query, expected) => {
    reads.length = 0
    expect((await app.inject(`/runs?${query}`)).statusCode).toBe(200)
    const order = { sort: 'started', dir: 'desc', limit: 31 }
    expect(reads.map(({ args }) => args[0])).toEqual([{ ...order, ...expected }])
  })

  // test/scenario/run/list.test.ts has the other parameters.
  test.each([`eventId=${'x'.repeat(69)}`, 'replayOf='])('%s is refused', async query => {
    expect(refusal(await app.inject(`/runs?${query}`))).toBe('400 invalid_request')
  })
})

describe('cursors of GET /runs', async () => {
  const SHOP = 'cursors'
  const workflows = ['a', 'b', 'c'].map(name => name.repeat(256))
  for (const [i, workflow] of workflows.entries()) {
    const fields = { id: `run_cursor_${i}`, app: SHOP, workflow, startedAt: T, finishedAt: T + i }
    await seed(...endedRun(fields))
  }
  const next = async (query = '') =>
    (await app.inject(`/runs?limit=1&app=${SHOP}&${query}`)).headers['x-next-cursor'] as string
  const follow = (cursor: string, query = '') => app.inject(`/runs?app=${SHOP}&${query}&cursor=${cursor}`)

  test.each([
    ['started', { id: 'run_cursor_2' }],
    ['workflow', { key: 'c'.repeat(256), id: 'run_cursor_2' }],
    ['status', { key: 'succeeded', id: 'run_cursor_2' }],
    ['app', { key: SHOP, id: 'run_cursor_2' }],
    ['duration', { key: 2, id: 'run_cursor_2' }],
  ])('hold the position in the order by %s', async (sort, after) => {
    expect((await follow(await next(`sort=${sort}`), `sort=${sort}`)).statusCode).toBe(200)
    expect(reads.at(-1)?.args[0]).toMatchObject({ after })
  })

  test.each(['eventId=e', 'replayOf=r'])('are refused when %s is added', async added => {
    expect(refusal(await follow(await next(), added))).toBe('400 invalid_cursor')
  })

  test('are good for another page size, and for a query that says the same', async () => {
    const cursor = await next('deep=1')
    for (const same of ['limit=2', 'sort=started&dir=desc', 'q=', 'deep=0']) {
      expect((await follow(cursor, same)).statusCode, same).toBe(200)
    }
  })

  test('are refused when their position is of another order', async () => {
    const parts = JSON.parse(Buffer.from(await next('sort=duration'), 'base64url').toString())
    for (const position of [['run_1'], ['run_1', 'shop'], ['run_1', 1.5], [2, 'run_1'], ['run_1', 2, 3]]) {
      const cursor = Buffer.from(JSON.stringify({ ...parts, position })).toString('base64url')
      expect(refusal(await follow(cursor, 'sort=duration'))).toBe('400 invalid_cursor')
    }
  })
})

// http/access/scan.test.ts has searches, which read in slices.
test('a list in an order that reads too many runs is aborted after 5 s, and says how to narrow it', async () => {
  const url = '/runs?sort=duration&app=rare'
  let isUnderWay = false
  list = (_, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      isUnderWay = true
    })
  const answer = app.inject(url)
  await eventually(() => isUnderWay)
  list = read => read()
  await clock.advance(5000)
  const response = await answer
  expect(refusal(response)).toBe('400 invalid_request')
  expect(response.json().error.details).toEqual({ field: 'sort' })
  expect(messageOf(response)).toMatch(/narrow the list with since, until, status, workflow or app/)
  expect((await app.inject(url)).statusCode).toBe(200)
  expect(timers()).toBe(0)
})

test('GET /runs/{id}/logs clamps its parameters', async () => {
  const asked = async (query: string) => {
    reads.length = 0
    await app.inject(`/runs/run_letter/logs?${query}`)
    return reads[0]?.args[1]
  }
  expect(await asked('')).toEqual({ from: 0, dir: 'asc', limit: 100 })
  expect(await asked('from=-3&limit=0')).toEqual({ from: 0, dir: 'asc', limit: 1 })
  expect(await asked('limit=1001')).toEqual({ from: 0, dir: 'asc', limit: 1000 })
  const last = Number.MAX_SAFE_INTEGER
  expect(await asked('from=99999999999999999999')).toEqual({ from: last, dir: 'asc', limit: 100 })
})
