import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../domain/model/errors.ts'
import { aRun, messageOf, postJson, refusal, testApp } from '../../http.testkit.ts'

describe.each(['cancel', 'pause', 'resume'])('POST /runs/{id}/%s', action => {
  test('acts and answers the run', async () => {
    const { app, faces } = testApp()
    faces.control = async () => aRun({ status: 'paused', input: '1', result: '2' })
    const response = await app.inject({ method: 'POST', url: `/runs/run_1/${action}` })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ id: 'run_1', status: 'paused' })
    expect(response.json()).not.toHaveProperty('input')
    expect(faces.acted).toEqual([{ action, actor: { namespace: 'default' }, args: ['run_1'] }])
  })

  test('does not mind a body', async () => {
    const { app } = testApp()
    expect((await postJson(app, `/runs/run_1/${action}`, '{}')).statusCode).toBe(200)
  })
})

describe('POST /runs/{id}/replay', () => {
  test.each<[string, string | undefined]>([
    ['', undefined],
    ['{}', undefined],
    ['{"other":1}', undefined],
    ['{"input":null}', 'null'],
    ['{"input": {"a":1.0} }', '{"a":1.0}'],
    ['{"input":12345678901234567890}', '12345678901234567890'],
    ['{"input":1,"input":2}', '2'],
    ['{"__proto__":{"input":1}}', undefined],
  ])('%s overrides with %s', async (body, input) => {
    const { app, faces } = testApp()
    faces.control = async () => aRun({ id: 'run_2', replayOf: 'run_1' })
    const response = await postJson(app, '/runs/run_1/replay', body)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ id: 'run_2', status: 'queued', replayOf: 'run_1' })
    expect(faces.acted).toEqual([
      { action: 'replay', actor: { namespace: 'default' }, args: ['run_1', input] },
    ])
  })

  test.each(['[]', 'null', '"x"', '1'])('%s is refused', async body => {
    const { app, faces } = testApp()
    expect(refusal(await postJson(app, '/runs/run_1/replay', body))).toBe('400 invalid_request')
    expect(faces.acted).toEqual([])
  })
})

describe('POST /runs/{id}/retry-from-step', () => {
  test('hands the step on', async () => {
    const { app, faces } = testApp()
    expect((await postJson(app, '/runs/run_1/retry-from-step', '{"step":"charge:1"}')).statusCode).toBe(200)
    expect(faces.acted[0]).toMatchObject({ action: 'retryFromStep', args: ['run_1', 'charge:1'] })
  })

  test.each([
    ['', 'step is required'],
    ['{}', 'step is required'],
    ['{"step":null}', 'step must be string'],
    ['{"step":7}', 'step must be string'],
    ['{"step":""}', 'step must not be blank'],
    ['{"step":" \\t"}', 'step must not be blank'],
    ['{"__proto__":{"step":"x"}}', 'step is required'],
    ['[]', 'body must be object'],
    ['null', 'body must be object'],
  ])('%s is refused', async (body, message) => {
    const { app, faces } = testApp()
    const response = await postJson(app, '/runs/run_1/retry-from-step', body)
    expect(refusal(response)).toBe('400 invalid_request')
    expect(messageOf(response)).toBe(message)
    expect(faces.acted).toEqual([])
  })
})

describe('POST /runs/bulk-replay', () => {
  test('hands the filter on, unknown fields aside, and answers the counts', async () => {
    const { app, faces } = testApp()
    const body =
      '{"app":"shop","workflow":"w","status":"failed","runType":"cron","limit":1,"since":"2030-01-01T00:00:00+01:00"}'
    const response = await postJson(app, '/runs/bulk-replay', body)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({ matched: 3, replayed: 1, skipped: 1, failed: 1, capped: false })
    const since = Date.UTC(2029, 11, 31, 23)
    expect(faces.acted).toEqual([
      {
        action: 'bulkReplay',
        actor: { namespace: 'default' },
        args: [{ app: 'shop', workflow: 'w', status: 'failed', runType: 'cron', since }],
      },
    ])
  })

  test.each([
    ['', 'one of app, workflow, status, runType and since is required'],
    ['[]', 'body must be object'],
    ['{}', 'one of app, workflow, status, runType and since is required'],
    ['{"limit":1}', 'one of app, workflow, status, runType and since is required'],
    ['{"app":" "}', 'app must not be blank'],
    ['{"workflow":"a\\u0000"}', 'workflow must not have control characters or lone surrogates'],
    ['{"since":"2030-02-30T00:00:00Z"}', 'since must be an RFC 3339 timestamp'],
  ])('%s is refused', async (body, message) => {
    const { app, faces } = testApp()
    const response = await postJson(app, '/runs/bulk-replay', body)
    expect(refusal(response)).toBe('400 invalid_request')
    expect(messageOf(response)).toBe(message)
    expect(faces.acted).toEqual([])
  })
})

describe('GET /control-actions', () => {
  test('asks for what the query says, and shows details to the letter', async () => {
    const { app, faces } = testApp()
    const shelf = faces.shelf()
    const createdAt = Date.parse('2024-01-02T03:04:05.678Z')
    shelf.controlRows.push({
      namespace: 'default',
      id: 'act_1',
      action: 'cancel',
      createdAt,
      detail: '{"n":1.0}',
    })
    const response = await app.inject('/control-actions?action=cancel&runId=run_1&limit=7')
    expect(response.body).toBe(
      '[{"id":"act_1","action":"cancel","createdAt":"2024-01-02T03:04:05.678Z","detail":{"n":1.0}}]',
    )
    await app.inject('/control-actions')
    expect(shelf.calls).toEqual([
      ['controlActions', { action: 'cancel', runId: 'run_1', limit: 7 }],
      ['controlActions', { action: undefined, runId: undefined, limit: 100 }],
    ])
  })
})

describe.each(['cancel', 'pause', 'resume', 'replay', 'retry-from-step'])('POST /runs/{id}/%s', action => {
  const url = `/runs/run_1/${action}`

  test.each([
    ['not_found', 404],
    ['step_not_found', 404],
    ['run_terminal', 409],
    ['run_not_paused', 409],
    ['run_not_finished', 409],
    ['namespace_suspended', 403],
  ] as const)('%s is %i', async (code, status) => {
    const { app, faces } = testApp()
    faces.control = () => Promise.reject(new EngineError(code, 'because'))
    expect(refusal(await postJson(app, url, '{"step":"s"}'))).toBe(`${status} ${code}`)
  })

  test('what cannot be an id is not found, and nobody is asked', async () => {
    const { app, faces } = testApp()
    for (const id of ['%00', 'a%20b', 'x'.repeat(65), 'x'.repeat(3000)]) {
      expect(refusal(await postJson(app, `/runs/${id}/${action}`, '{"step":"s"}'))).toBe('404 not_found')
    }
    expect(faces.acted).toEqual([])
  })

  test('a body that is no JSON is refused', async () => {
    const { app, faces } = testApp()
    expect(refusal(await postJson(app, url, '{'))).toBe('400 invalid_json')
    expect(faces.acted).toEqual([])
  })
})
