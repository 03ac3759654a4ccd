import { describe, expect, test } from 'vitest'
import type { LogLine } from '../../domain/log-line.ts'
import type { Step } from '../../domain/step.ts'
import { aRun, refusal, testApp } from '../http.testkit.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')

function stocked(count: number) {
  const { app, faces } = testApp()
  // Two runs a millisecond: the id must break the tie.
  for (let i = 1; i <= count; i++) {
    faces.shelf().runRows.set(`run_${i}`, aRun({ id: `run_${i}`, createdAt: T + Math.floor(i / 2) }))
  }
  return { app, faces }
}

const ids = (response: { body: string }): string[] =>
  JSON.parse(response.body).map((run: { id: string }) => run.id)

describe('GET /runs', () => {
  test('answers summaries', async () => {
    const { app, faces } = testApp()
    faces
      .shelf()
      .runRows.set('run_1', aRun({ input: '1', result: '2', waitingFor: { kind: 'sleep', until: T } }))
    const [run] = (await app.inject('/runs')).json()
    expect(run).not.toHaveProperty('input')
    expect(run).not.toHaveProperty('result')
    expect(run).not.toHaveProperty('fence')
    expect(run.waitingFor).toEqual({ kind: 'sleep', until: '2024-01-02T03:04:05.678Z' })
  })

  test('no runs are an empty list', async () => {
    const { app } = stocked(0)
    const response = await app.inject('/runs')
    expect(response.body).toBe('[]')
    expect(response.headers['x-next-cursor']).toBeUndefined()
  })

  test('pages meet every run once, also while new ones arrive', async () => {
    const { app, faces } = stocked(5)
    const first = await app.inject('/runs?limit=2')
    expect(ids(first)).toEqual(['run_5', 'run_4'])
    faces.shelf().runRows.set('run_6', aRun({ id: 'run_6', createdAt: T + 99 }))
    const second = await app.inject(`/runs?limit=2&cursor=${first.headers['x-next-cursor']}`)
    expect(ids(second)).toEqual(['run_3', 'run_2'])
    const third = await app.inject(`/runs?limit=2&cursor=${second.headers['x-next-cursor']}`)
    expect(ids(third)).toEqual(['run_1'])
    expect(third.headers['x-next-cursor']).toBeUndefined()
  })

  test.each([
    ['', 31],
    ['limit=0', 2],
    ['limit=200', 201],
    ['limit=201', 201],
  ])('%s asks for %i rows', async (query, limit) => {
    const { app, faces } = stocked(0)
    await app.inject(`/runs?${query}`)
    expect(faces.shelf().calls[0]?.[1]).toMatchObject({ limit })
  })

  test('filters by app and status; parameters nobody knows are ignored', async () => {
    const { app, faces } = stocked(0)
    expect((await app.inject('/runs?app=shop&status=running&color=blue')).statusCode).toBe(200)
    expect(faces.shelf().calls[0]?.[1]).toMatchObject({ app: 'shop', status: 'running' })
  })

  test.each(['queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'])(
    'knows the status %s',
    async status => {
      const { app } = stocked(0)
      expect((await app.inject(`/runs?status=${status}`)).statusCode).toBe(200)
    },
  )

  test.each(['status=done', 'status=', 'status=FAILED', 'status=failed&status=failed', 'limit=ten', 'app='])(
    '%s is refused',
    async query => {
      const { app } = stocked(0)
      expect(refusal(await app.inject(`/runs?${query}`))).toBe('400 invalid_request')
    },
  )

  test('a cursor is good for its filter only', async () => {
    const { app } = stocked(3)
    const cursor = (await app.inject('/runs?limit=1&app=shop')).headers['x-next-cursor']
    expect((await app.inject(`/runs?app=shop&cursor=${cursor}`)).statusCode).toBe(200)
    expect(refusal(await app.inject(`/runs?cursor=${cursor}`))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject(`/runs?app=shop&status=failed&cursor=${cursor}`))).toBe(
      '400 invalid_cursor',
    )
    expect(refusal(await app.inject(`/events?cursor=${cursor}`))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject('/runs?cursor=nonsense'))).toBe('400 invalid_cursor')
  })
})

describe('GET /runs/{id}', () => {
  test('input and result come to the letter', async () => {
    const { app, faces } = testApp()
    const input = '{"a":12345678901234567890,"__proto__":{"x":1.0},"a":"\\u0000\\ud800"}'
    faces.shelf().runRows.set('run_1', aRun({ input, result: 'null' }))
    const response = await app.inject('/runs/run_1')
    expect(response.statusCode).toBe(200)
    expect(response.body.endsWith(`,"input":${input},"result":null}`)).toBe(true)
    expect(Buffer.byteLength(response.body)).toBe(Number(response.headers['content-length']))
  })
})

describe('a run that does not exist', () => {
  test.each(['', '/steps', '/logs', '/stream'])('GET /runs/{id}%s', async path => {
    const { app, faces } = testApp()
    faces.shelf('other').runRows.set('run_2', aRun({ id: 'run_2', namespace: 'other' }))
    for (const id of ['run_2', '%00', 'a%0Ab', 'a%2Fb', 'x'.repeat(100), 'x'.repeat(3000), '%F0%9F%98%80']) {
      expect(refusal(await app.inject(`/runs/${id}${path}`))).toBe('404 not_found')
    }
    expect(faces.listening).toBe(0)
    // What cannot be an id is not even looked for.
    expect(new Set(faces.shelf().calls.map(call => call[1]))).toEqual(new Set(['run_2']))
  })
})

describe('GET /runs/{id}/steps', () => {
  const step: Step = {
    runId: 'run_1',
    id: 'abc',
    name: 'charge',
    op: 'StepRun',
    index: 0,
    status: 'succeeded',
    attempt: 1,
    seq: 1,
    startedAt: T,
    data: '1.0',
  }

  test('the steps in order, data to the letter', async () => {
    const { app, faces } = testApp()
    faces.shelf().stepRows.push(step, { ...step, index: 1, id: 'def' })
    const response = await app.inject('/runs/run_1/steps')
    expect(response.json().map((row: { id: string }) => row.id)).toEqual(['abc', 'def'])
    expect(response.body).toContain('"data":1.0}')
  })

  test('of a run without any', async () => {
    const { app } = stocked(1)
    expect((await app.inject('/runs/run_1/steps')).body).toBe('[]')
  })
})

describe('GET /runs/{id}/logs', () => {
  const line = (seq: number): LogLine => ({
    runId: 'run_1',
    seq,
    ts: T,
    level: 'info',
    message: 'm',
    fields: '{"n":1.0}',
    scope: '@root',
    attempt: 1,
    index: seq,
    dedupe: `${seq}`,
  })

  test('lines after from, oldest first, fields to the letter', async () => {
    const { app, faces } = testApp()
    faces.shelf().logRows.push(line(1), line(4), line(9))
    const response = await app.inject('/runs/run_1/logs?from=1&limit=1')
    expect(response.json()).toMatchObject([{ seq: 4, message: 'm', scope: '@root', attempt: 1 }])
    expect(response.body).toContain('"fields":{"n":1.0}}')
  })

  test('past the last line of a known run', async () => {
    const { app } = stocked(1)
    expect((await app.inject('/runs/run_1/logs?from=9')).body).toBe('[]')
  })

  test.each([
    ['', { from: 0, limit: 100 }],
    ['from=-3&limit=0', { from: 0, limit: 1 }],
    ['limit=1001', { from: 0, limit: 1000 }],
    ['from=99999999999999999999', { from: Number.MAX_SAFE_INTEGER, limit: 100 }],
  ])('%s asks for %j', async (query, expected) => {
    const { app, faces } = stocked(1)
    await app.inject(`/runs/run_1/logs?${query}`)
    expect(faces.shelf().calls[0]?.[2]).toEqual(expected)
  })

  test.each(['from=x', 'from=', 'from=1.5', 'limit=x', 'from=1&from=2'])('%s is refused', async query => {
    const { app } = stocked(1)
    expect(refusal(await app.inject(`/runs/run_1/logs?${query}`))).toBe('400 invalid_request')
  })
})
