// The error body, and the statuses of requests that no route handles (docs/errors.md).

import { describe, expect, test } from 'vitest'
import { type Answer, scenario } from '../../kit/index.ts'

const { api } = await scenario({ realTime: true })

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  const { error } = answer.json as { error: Record<string, unknown> }
  expect(Object.keys(answer.json as object)).toEqual(['error'])
  expect(error).toMatchObject({ code, message: expect.any(String), requestId: expect.any(String) })
  expect(answer.headers.get('x-request-id')).toBe(error.requestId)
  expect(Object.keys(error).filter(key => !['code', 'message', 'requestId', 'details'].includes(key))).toEqual([])
}

describe('{"error": {code, message, details?, requestId}}', () => {
  test('every refusal has it', async () => {
    expectProblem(await api.get('/nowhere'), 404, 'not_found')
    expectProblem(await api.get('/runs/run_nope'), 404, 'not_found')
    expectProblem(await api.post('/events', {}), 400, 'invalid_request')
    expectProblem(await api.postText('/events', '{'), 400, 'invalid_json')
    expectProblem(await api.get('/runs?cursor=x'), 400, 'invalid_cursor')
    expectProblem(await api.get('/runs/%E0%A4%A'), 400, 'invalid_request')
    expectProblem(
      await api.request('POST', '/events', { body: 'x', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    )
  })

  test('a known path with another method is 405 and names the allowed ones', async () => {
    const answer = await api.request('DELETE', '/events')
    expectProblem(answer, 405, 'method_not_allowed')
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(expect.arrayContaining(['GET', 'POST']))
  })

  test('request ids differ', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await api.get('/nowhere')).headers.get('x-request-id')))
    expect(new Set(ids).size).toBe(3)
  })
})
