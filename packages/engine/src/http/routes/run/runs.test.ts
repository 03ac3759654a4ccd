import { describe, expect, test } from 'vitest'
import type { LogLine } from '../../../domain/model/log-line.ts'
import type { Step } from '../../../domain/model/step.ts'
import { aRun, refusal, testApp } from '../../http.testkit.ts'

const T = Date.parse('2024-01-02T03:04:05.678Z')

function stocked(count: number) {
  const { app, faces } = testApp()
  // Two runs a millisecond: the id must break the tie.
  for (let i = 1; i <= count; i++) {
    faces.shelf().runRows.set(`run_${i}`, aRun({ id: `run_${i}`, createdAt: T + Math.floor(i / 2) }))
  }
  return { app, faces }
}

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
