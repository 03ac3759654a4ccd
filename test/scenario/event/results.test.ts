// Results in the answer of a request: `POST /events?wait=` and `GET /runs/{id}/result?wait=` (docs/events.md#wait-for-the-result).

import { describe, expect, test } from 'vitest'
import { gate, openEngine, returned, scenario, unique, until } from '../../kit/index.ts'

const { api, clock, workflow, start } = await scenario()

const never = () => new Promise<never>(() => {})

/** The answer of a request that has timed out, once the clock has moved. */
async function timedOut<T>(request: Promise<T>): Promise<T> {
  let isAnswered = false
  void request.finally(() => {
    isAnswered = true
  })
  // The wait begins some time after the request was sent.
  await until(() => {
    if (!isAnswered) clock.jump(100)
    return isAnswered
  })
  return request
}

describe('POST /events?wait=', () => {
  test('answers with the result of the only run', async () => {
    const { name } = await workflow(({ event }) => returned({ got: event.data }))
    const { status, json } = await api.post('/events?wait=30s', { name, data: 7 })
    const { runId } = json as { runId: string }
    expect(status).toBe(202)
    expect(json).toMatchObject({
      woke: 0,
      triggered: [{ workflow: name, runId }],
      run: { runId, status: 'succeeded', result: { got: 7 } },
    })
  })

  test('answers with the error of a run that fails', async () => {
    const { name } = await workflow(() => ({ status: 400, body: { error: { message: 'no such card' } } }))
    const { json } = await api.post('/events?wait=30s', { name })
    expect(json).toMatchObject({
      run: { status: 'failed', error: { code: 'runner_rejected', message: 'no such card' } },
    })
  })

  test('has no run when the time is up first', async () => {
    const { name } = await workflow(never)
    const { status, json } = await timedOut(api.post('/events?wait=500', { name }))
    expect([status, json]).toEqual([202, expect.not.objectContaining({ run: expect.anything() })])
  })

  test('answers at once when no run starts, and when several do', async () => {
    const name = unique('two')
    expect((await api.post('/events?wait=60s', { name })).json).toMatchObject({ triggered: [] })
    for (const app of ['one', 'two']) await workflow(never, { app, registration: { triggers: [{ event: name }] } })
    const { json } = await api.post('/events?wait=60s', { name })
    expect(json).toMatchObject({ triggered: [{ app: 'one' }, { app: 'two' }] })
    expect(json).not.toHaveProperty('run')
  })

  test('answers at once when the event fills a batch', async () => {
    const registration = { batch: { maxSize: 2, timeout: '1h' } }
    const { name } = await workflow(({ event }) => returned(event.data), { registration })
    await api.send({ name, data: 1 })
    const { json } = await api.post('/events?wait=30s', { name, data: 2 })
    expect(json).toMatchObject({ triggered: [{ workflow: name, batched: true, runId: expect.any(String) }] })
    expect(json).not.toHaveProperty('run')
  })

  test.each([
    ['61s', 'must be at most 60s'],
    ['', 'must be milliseconds'],
    ['-1', 'must be milliseconds'],
    ['soon', 'must be milliseconds'],
  ])('a wait of "%s" is refused', async (wait, problem) => {
    for (const answer of [
      await api.post(`/events?wait=${wait}`, { name: 'x' }),
      await api.get(`/runs/run_1/result?wait=${wait}`),
    ]) {
      expect(answer).toMatchObject({ status: 400, json: { error: { details: { field: 'wait' } } } })
      expect(answer.text).toContain(problem)
    }
  })

  test('is refused for an event that arrives later', async () => {
    for (const wait of ['1s', '0']) {
      const answer = await api.post(`/events?wait=${wait}`, { name: 'later', delay: '1h' })
      expect(answer).toMatchObject({ status: 400, json: { error: { details: { field: 'wait' } } } })
    }
  })
})

describe('GET /runs/{id}/result', () => {
  test('answers 202 while the run goes on, and 200 as soon as it ends', async () => {
    const opened = gate()
    const { runId } = await start(async () => {
      await opened.opened
      return { status: 200, text: '{"data":12345678901234567890}' }
    })
    const path = `/runs/${runId}/result`
    const goesOn = { status: 202, json: { runId, status: 'running' } }
    expect(await api.get(path)).toMatchObject(goesOn)
    expect(await timedOut(api.get(`${path}?wait=400`))).toMatchObject(goesOn)
    const waited = api.get(`${path}?wait=1m`)
    opened.open()
    expect((await waited).status).toBe(200)
    expect((await waited).text).toBe(`{"runId":"${runId}","status":"succeeded","result":12345678901234567890}`)
    expect((await api.get(`${path}?wait=1m`)).text).toBe((await waited).text)
  })

  test('ends with a cancellation', async () => {
    const { runId } = await start(never)
    const waited = api.get(`/runs/${runId}/result?wait=1m`)
    await api.post(`/runs/${runId}/cancel`)
    expect(await waited).toMatchObject({ status: 200, json: { runId, status: 'cancelled' } })
  })

  test('is 404 for a run that does not exist, at once', async () => {
    expect(await api.get('/runs/run_none/result?wait=1m')).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('more callers than an engine lets wait are answered at once, until one of them has its answer', async () => {
    const engine = await openEngine({ bounds: { http: { waitersMax: 2 } } })
    const name = unique('awaited')
    const ends = [gate(), gate()]
    await engine.runner({
      workflows: {
        [name]: async ({ event }) => {
          await ends[event.data as number]?.opened
          return returned(event.data)
        },
      },
    })
    const send = (data: number, wait: string) => engine.api.post(`/events?wait=${wait}`, { name, data })
    const { runId } = (await send(0, '0')).json as { runId: string }
    const path = `/runs/${runId}/result?wait=1m`
    const waiting = [engine.api.get(path), send(1, '1m')]
    await until(async () => ((await engine.api.get(`/events?name=${name}`)).json as object[]).length === 2)
    expect(await engine.api.get(path)).toMatchObject({ status: 202, json: { runId, status: 'running' } })
    const sent = await send(1, '1m')
    expect(sent).toMatchObject({ status: 202, json: { triggered: [{ workflow: name }] } })
    expect(sent.json).not.toHaveProperty('run')
    ends[1]?.open()
    expect((await waiting[1])?.json).toMatchObject({ run: { status: 'succeeded', result: 1 } })
    expect((await send(1, '1m')).json).toMatchObject({ run: { status: 'succeeded', result: 1 } })
    ends[0]?.open()
    expect(await waiting[0]).toMatchObject({ status: 200, json: { runId, result: 0 } })
  })

  test('an engine that shuts down answers with what it knows', async () => {
    const engine = await openEngine()
    const name = unique('stuck')
    await engine.runner({ workflows: { [name]: never } })
    const { runId } = (await engine.api.post('/events', { name })).json as { runId: string }
    const waited = Promise.all([
      engine.api.get(`/runs/${runId}/result?wait=1m`),
      engine.api.post('/events?wait=1m', { name }),
    ])
    await until(async () => ((await engine.api.get(`/events?name=${name}`)).json as object[]).length === 2)
    await engine.stop()
    const [result, sent] = await waited
    expect(result).toMatchObject({ status: 202, json: { runId } })
    expect(sent.status).toBe(202)
    expect(sent.json).not.toHaveProperty('run')
  })
})
