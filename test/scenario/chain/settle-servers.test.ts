// Steps that are settled by hand, on both databases (docs/steps.md#settle-a-step).

import type { ControlAction, RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  apiKeys,
  child,
  flow,
  gate,
  type Handler,
  keyOf,
  openEngine,
  openRunner,
  run,
  STORES,
  StepFailure,
  sleep,
  step,
  stepId,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const HOUR = 3_600_000

describe.each(STORES)('on %s', async (_, freshStore) => {
  const engine = await openEngine({
    storeFile: await freshStore(),
    env: { ENGINE_API_KEYS: apiKeys('secret', 'read') },
  })
  const api = engine.api.as(keyOf('secret'))

  async function start(handler: Handler, registration: object = {}, others: Record<string, Handler> = {}) {
    const name = unique('settled')
    const runner = await openRunner({
      workflows: { [name]: { handler, registration: { ...registration } }, ...others },
    })
    await runner.register(api)
    return { name, runner, ...(await api.send({ name })) }
  }

  const settle = (runId: string, step: string, body: object) =>
    api.post(`/runs/${runId}/steps/${encodeURIComponent(step)}/settle`, body)
  const reason = 'the carrier called'

  test.each([
    ['a sleep', sleep('s', HOUR)],
    ['a wait', wait('s', 'never')],
    ['a child', child('s', 'nobody-has-it')],
    ['a callback', step('WaitForCallback', 's', {})],
    ['a step to be tried again', run('s', () => Promise.reject(new StepFailure('no', { retryAfterMs: HOUR })))],
  ])('%s gets its result, and the run goes on at once', async (_, outstanding) => {
    const { runId } = await start(flow([outstanding, run('after')]))
    await api.reaches(runId, 'waiting')
    const answer = await settle(runId, 's', { data: { by: 'phone', n: 1 }, reason })
    expect(answer.status, answer.text).toBe(200)
    const settledBy = { actor: 'secret', reason, at: expect.any(String) }
    expect(answer.json).toMatchObject({ name: 's', status: 'succeeded', data: { by: 'phone', n: 1 }, settledBy })
    expect((await api.succeeded(runId)).result).toEqual({ s: { by: 'phone', n: 1 }, after: 'after' })
    expect(await api.step(runId, 's')).toMatchObject({ status: 'succeeded', settledBy })
    expect(await api.step(runId, 's')).not.toHaveProperty('error')
    const [entry] = (await api.get(`/control-actions?runId=${runId}`)).json as ControlAction[]
    expect(entry).toMatchObject({ action: 'step.settle', actor: 'secret', detail: { step: 's', reason } })
  })

  test('an error goes to the handler, as that of the step', async () => {
    const { runId } = await start(flow([wait('w', 'never')]))
    await api.reaches(runId, 'waiting')
    const error = { message: 'lost', name: 'ParcelLost', code: 'lost' }
    expect((await settle(runId, stepId('w'), { error, reason })).json).toMatchObject({ status: 'failed', error })
    expect((await api.succeeded(runId)).result).toEqual({ w: { error } })
  })

  test('by name, the n-th use of it is named as `:n`', async () => {
    const { runId } = await start(flow([[wait('w', 'never'), wait('w', 'never')]]))
    await api.reaches(runId, 'waiting')
    await settle(runId, 'w:1', { data: 'second', reason })
    await settle(runId, 'w', { data: 'first', reason })
    expect((await api.succeeded(runId)).result).toEqual({ w: 'first', 'w:1': 'second' })
  })

  test('what is no such step, or has an end, is refused, and changes and records nothing', async () => {
    const { runId } = await start(flow([run('done'), wait('w', 'never')]))
    await api.reaches(runId, 'waiting')
    const body = { data: 1, reason }
    expect(await settle('run_unknown', 'w', body)).toMatchObject({ status: 404, code: 'not_found' })
    expect(await settle(runId, 'x', body)).toMatchObject({ status: 404, code: 'step_not_found' })
    expect(await settle(runId, 'done', body)).toMatchObject({ status: 409, code: 'conflict' })
    for (const [bad, field] of [
      [{ reason }, 'body'],
      [{ data: 1, error: { message: 'no' }, reason }, 'body'],
      [{ data: 1 }, 'reason'],
      [{ data: 1, reason: '' }, 'reason'],
      [{ data: 1, reason: ' ' }, 'reason'],
      [{ data: 1, reason: 'x'.repeat(1001) }, 'reason'],
      [{ error: 'no', reason }, 'error'],
      [{ error: {}, reason }, 'error.message'],
    ] as const) {
      const refused = await settle(runId, 'w', bad)
      expect(refused, JSON.stringify(bad)).toMatchObject({ status: 400, code: 'invalid_request' })
      expect(refused.text).toContain(field)
    }
    const reader = engine.api.as(keyOf('read'))
    expect((await reader.post(`/runs/${runId}/steps/w/settle`, body)).status).toBe(403)
    await api.post(`/runs/${runId}/cancel`)
    expect(await settle(runId, 'w', body)).toMatchObject({ status: 409, code: 'conflict' })
    const entries = (await api.get(`/control-actions?runId=${runId}`)).json as ControlAction[]
    expect(entries.map(({ action }) => action)).toEqual(['cancel'])
  })

  test('`null` is a result, a reason has up to 1,000 characters, and a second end is refused', async () => {
    const { runId } = await start(flow([wait('w', 'never'), wait('v', 'never')]))
    await api.reaches(runId, 'waiting')
    const long = 'x'.repeat(1000)
    expect((await settle(runId, 'w', { data: null, reason: long })).text).toContain('"data":null')
    expect(await settle(runId, 'w', { data: 1, reason })).toMatchObject({ status: 409, code: 'conflict' })
    expect((await api.step(runId, 'w')).settledBy?.reason).toBe(long)
    await api.post(`/runs/${runId}/cancel`)
  })

  test('the real result of the step comes too late', async () => {
    const event = unique('late')
    const { runId } = await start(flow([wait('w', event), wait('v', event)]))
    await api.reaches(runId, 'waiting')
    await settle(runId, 'w', { data: 'by hand', reason })
    await until(async () => (await api.steps(runId)).length === 2)
    await api.send({ name: event, data: 'real' })
    const { result } = (await api.succeeded(runId)) as { result?: { w: unknown; v: { data: unknown } } }
    expect(result).toMatchObject({ w: 'by hand', v: { data: 'real' } })
  })

  test('of many settles and the event at one moment, one is the end', async () => {
    const event = unique('race')
    const { runId } = await start(flow([wait('w', event)]))
    await api.reaches(runId, 'waiting')
    const [sent, ...answers] = await Promise.all([
      api.send({ name: event, data: 'real' }),
      ...[1, 2, 3, 4].map(n => settle(runId, 'w', { data: n, reason })),
    ])
    const taken = answers.filter(({ status }) => status === 200).length
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    const { result } = (await api.succeeded(runId)) as { result?: { w: unknown } }
    const { woke } = sent as unknown as { woke?: number }
    expect(taken + (typeof result?.w === 'object' ? 1 : 0)).toBe(1)
    if (woke !== undefined) expect(woke).toBe(1 - taken)
  })

  test('a settle and a cancel at one moment: the run is cancelled, and the step has one end', async () => {
    const { runId } = await start(flow([wait('w', 'never'), wait('v', 'never')]))
    await api.reaches(runId, 'waiting')
    const [settled, cancelled] = await Promise.all([
      settle(runId, 'w', { data: 1, reason }),
      api.post(`/runs/${runId}/cancel`),
    ])
    expect(cancelled.status).toBe(200)
    expect([200, 409]).toContain(settled.status)
    const { status } = await api.step(runId, 'w')
    expect(status).toBe(settled.status === 200 ? 'succeeded' : 'cancelled')
  })

  test('a step that a pass runs loses the pass, whose result is dropped', async () => {
    const [begun, aborted, go] = [gate(), gate(), gate()]
    let tries = 0
    const { runId } = await start(
      flow([
        run('hangs', async ({ signal }) => {
          if (++tries === 1) throw new StepFailure('once', { retryAfterMs: 0 })
          signal.addEventListener('abort', () => aborted.open())
          begun.open()
          await go.opened
          return 'late'
        }),
        run('after'),
      ]),
    )
    await begun.opened
    expect((await settle(runId, 'hangs', { data: 'by hand', reason })).status).toBe(200)
    await aborted.opened
    expect((await api.succeeded(runId)).result).toEqual({ hangs: 'by hand', after: 'after' })
    go.open()
    expect((await api.step(runId, 'hangs')).data).toBe('by hand')
    expect(tries).toBe(2)
  })

  test('a pass that does something else goes on, and the next one has the result', async () => {
    const [begun, go] = [gate(), gate()]
    const { runId } = await start(
      flow([
        [
          sleep('nap', HOUR),
          run('busy', async () => {
            begun.open()
            await go.opened
            return 'kept'
          }),
        ],
      ]),
      {},
    )
    // The sleep is stored with the first answer, so this step is not outstanding before.
    await begun.opened
    expect((await settle(runId, 'nap', { data: null, reason })).status).toBe(404)
    go.open()
    await api.reaches(runId, 'waiting')
    expect((await settle(runId, 'nap', { data: 'up', reason })).status).toBe(200)
    expect((await api.succeeded(runId)).result).toEqual({ nap: 'up', busy: 'kept' })
  })

  test('of a paused run, a step is settled, and the resume goes on with it', async () => {
    const { runId } = await start(flow([sleep('s', HOUR)]))
    await api.reaches(runId, 'waiting')
    await api.post(`/runs/${runId}/pause`)
    await settle(runId, 's', { data: 'up', reason })
    expect((await api.run(runId)).status).toBe('paused')
    await api.post(`/runs/${runId}/resume`)
    expect((await api.succeeded(runId)).result).toEqual({ s: 'up' })
  })

  test('the child of a settled step goes on, and ends with its parent', async () => {
    const kid = unique('kid')
    const { runId } = await start(
      flow([child('c', kid), wait('w', 'never')]),
      {},
      { [kid]: flow([wait('k', 'never')]) },
    )
    const childRunId = (await until(async () => (await api.steps(runId))[0]?.childRunId)) as string
    await api.reaches(childRunId, 'waiting')
    await settle(runId, 'c', { data: 'without it', reason })
    await until(async () => (await api.steps(runId)).length === 2)
    expect((await api.run(childRunId)).status).toBe('waiting')
    await api.post(`/runs/${runId}/cancel`)
    await api.reaches(childRunId, 'cancelled')
  })

  test('a fork keeps a settled step, and who settled it', async () => {
    const { runId } = await start(flow([wait('w', 'never'), run('b')]))
    await api.reaches(runId, 'waiting')
    await settle(runId, 'w', { data: 1, reason })
    await api.succeeded(runId)
    const { id } = (await api.post(`/runs/${runId}/retry-from-step`, { step: 'b' })).json as RunSummary
    expect((await api.succeeded(id)).result).toEqual({ w: 1, b: 'b' })
    expect((await api.step(id, 'w')).settledBy).toMatchObject({ reason })
  })
})
