// The bodies that the routes of run control accept. test/scenario/run has the rest.

import { describe, expect, test } from 'vitest'
import { aRun, endedRun, messageOf, postJson, refusal, testApp } from '../../../../../../test/kit/http/test-app.ts'

const { app, store, seed } = await testApp()
await seed(...endedRun({ input: '"source"' }), { type: 'run.created', run: aRun({ id: 'run_2' }) })
const recorded = () => store.in('default').controlActions({ limit: 1000 })

test.each(['pause', 'resume', 'cancel'])('POST /runs/{id}/%s ignores a body', async action => {
  const response = await postJson(app, `/runs/run_2/${action}`, '{}')
  expect(response.statusCode).toBe(200)
  expect(response.json()).toMatchObject({ id: 'run_2' })
  expect(response.json()).not.toHaveProperty('input')
})

describe('POST /runs/{id}/replay', () => {
  test.each([
    ['', '"source"'],
    ['{}', '"source"'],
    ['{"input":null}', 'null'],
    ['{"input": {"a":1.0} }', '{"a":1.0}'],
    ['{"input":12345678901234567890}', '12345678901234567890'],
    ['{"input":1,"input":2}', '2'],
  ])('%s starts with %s', async (body, input) => {
    const response = await postJson(app, '/runs/run_1/replay', body)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ status: 'queued', replayOf: 'run_1' })
    const fork = await app.inject(`/runs/${response.json().id}`)
    expect(fork.body.endsWith(`,"input":${input}}`)).toBe(true)
  })
})

const REFUSED: [route: string, body: string, message: string][] = [
  ['/runs/run_1/replay', '[]', 'body must be object'],
  ['/runs/run_1/replay', '{"inputs":1}', '"inputs" is not known here; did you mean "input"?'],
  ['/runs/run_1/replay', '{"__proto__":{"input":1}}', '"__proto__" is not known here; known are input'],
  ['/runs/run_1/cancel', '{"force":true}', '"force" is not known here; known are cleanup'],
  ['/runs/run_1/cancel', '{"cleanup":"no"}', 'cleanup must be boolean'],
  ['/runs/run_1/retry-from-step', '', 'step is required'],
  ['/runs/run_1/retry-from-step', '{}', 'step is required'],
  ['/runs/run_1/retry-from-step', '{"step":7}', 'step must be string'],
  ['/runs/run_1/retry-from-step', '{"step":" \\t"}', 'step must not be blank'],
  ['/runs/run_1/retry-from-step', '[]', 'body must be object'],
  ['/runs/bulk-replay', '', 'one of app, workflow, status, runType and since is required'],
  ['/runs/bulk-replay', '[]', 'body must be object'],
  ['/runs/bulk-replay', '{}', 'one of app, workflow, status, runType and since is required'],
  ['/runs/bulk-replay', '{"app":" "}', 'app must not be blank'],
  ['/runs/bulk-replay', '{"workflow":"a\\u0000"}', 'workflow must not have control characters or lone surrogates'],
  ['/runs/bulk-replay', '{"since":"2030-02-30T00:00:00Z"}', 'since must be an RFC 3339 timestamp'],
]

test.each(REFUSED)('POST %s with %s is refused', async (route, body, message) => {
  const before = await recorded()
  const response = await postJson(app, route, body)
  expect(refusal(response)).toBe('400 invalid_request')
  expect(messageOf(response)).toBe(message)
  expect(await recorded()).toEqual(before)
})

test.each(['cancel', 'pause', 'resume', 'replay', 'retry-from-step'])(
  'POST /runs/{id}/%s refuses a body that is no JSON, and does not find what cannot be an id',
  async action => {
    const before = await recorded()
    expect(refusal(await postJson(app, `/runs/run_1/${action}`, '{'))).toBe('400 invalid_json')
    for (const id of ['%00', 'a%20b', 'x'.repeat(65), 'x'.repeat(3000)]) {
      expect(
        refusal(await postJson(app, `/runs/${id}/${action}`, action === 'retry-from-step' ? '{"step":"s"}' : '{}')),
      ).toBe('404 not_found')
    }
    expect(await recorded()).toEqual(before)
  },
)
