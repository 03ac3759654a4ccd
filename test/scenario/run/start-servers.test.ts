// Starting runs directly, on both databases and with two engines on one (docs/concepts.md#start-a-workflow-directly).

import type { RunSummary, StartPreview } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Answer, type Api, openEngines, openRunner, PLACES, returned, unique, until } from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }
const runOf = (answer: Answer) => answer.json as RunSummary

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const { engines } = await openEngines(freshStore, count, { env })
  const apis = engines.map(({ api }) => api) as [Api, ...Api[]]
  const [api, other] = [apis[0], apis.at(-1) as Api]

  test('starts a run of any workflow, once for each id', async () => {
    const [name, timed] = [unique('direct'), unique('timed')]
    const runner = await openRunner({
      workflows: {
        [name]: {
          handler: invoke => returned(invoke.event),
          registration: { attributes: { order: 'event.data.order' } },
        },
        [timed]: { handler: invoke => returned(invoke.event), registration: { triggers: [{ cron: '0 0 1 1 *' }] } },
      },
    })
    await runner.register(api)
    const { app } = runner
    const start = (body?: unknown, at: Api = api, of = name) => at.post(`/workflows/${app}/${of}/runs`, body)

    const first = await start({ input: { order: 'o-1' }, attributes: { tier: 'gold' } })
    expect(first.status, first.text).toBe(201)
    expect(runOf(first)).toMatchObject({
      workflow: name,
      app,
      triggerKind: 'event',
      attributes: { order: 'o-1', tier: 'gold' },
    })
    for (const absent of ['eventId', 'eventName', 'cron']) expect(runOf(first)).not.toHaveProperty(absent)
    expect(await api.succeeded(runOf(first).id)).toMatchObject({
      input: { order: 'o-1' },
      result: { name, data: { order: 'o-1' } },
    })
    // Also without a body, and for a workflow that only schedules start.
    expect(runOf(await start()).id).toMatch(/^run_[0-9A-Z]{26}$/)
    expect(await api.succeeded(runOf(await start({}, other, timed)).id)).toMatchObject({ result: { name: timed } })
    expect((await api.get('/events')).json).toEqual([])

    const runId = `run_order-${unique('x')}`
    const named = await start({ runId, input: 1 })
    expect(named.status, named.text).toBe(201)
    expect(runOf(named).id).toBe(runId)
    expect(await api.succeeded(runId)).toMatchObject({ id: runId, input: 1 })
    expect(runner.record.invokes.at(-1)?.ctx.runId).toBe(runId)
    // A request with another input returns the first run.
    const again = await start({ runId, input: 2 }, other)
    expect(again.status, again.text).toBe(200)
    expect(again.json).toMatchObject({ id: runId, status: 'succeeded' })
    expect((await api.run(runId)).input).toBe(1)
    expect(await start({ runId }, api, timed)).toMatchObject({ status: 409, code: 'conflict' })
    // An id that the engine generated for a run is also taken.
    const { id } = runOf(first)
    expect(await start({ runId: id })).toMatchObject({ status: 200, json: { id } })
    expect(await start({ runId: id }, api, timed)).toMatchObject({ status: 409, code: 'conflict' })

    for (const erased of [runId, id]) {
      expect((await api.request('DELETE', `/runs/${erased}`)).status).toBe(204)
      expect((await api.get(`/runs/${erased}`)).status).toBe(404)
      expect(await start({ runId: erased }, other)).toMatchObject({ status: 409, code: 'conflict' })
    }
    expect((await api.get('/control-actions')).json).toMatchObject([{ action: 'run.erase' }, { action: 'run.erase' }])
    expect(await start({}, api, 'nobody')).toMatchObject({ status: 404, code: 'not_found' })
    for (const wrong of ['run_1234567', `run_${'a'.repeat(65)}`, 'order-4711', 'run_12345.78', 12345678]) {
      expect(await start({ runId: wrong })).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request', details: { field: 'runId' } } },
      })
    }
    expect((await start({ runId: `run_${'a'.repeat(64)}` })).status).toBe(201)
    expect((await start({ runId: 'run_12345678' })).status).toBe(201)
  })

  test('twenty starts at once with one id start one run', async () => {
    const name = unique('raced')
    const runner = await openRunner({ workflows: { [name]: () => returned() } })
    await runner.register(api)
    const runId = `run_raced-${unique('x')}`
    const path = `/workflows/${runner.app}/${name}/runs`
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (apis[i % apis.length] as Api).post(path, { runId, input: i })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(answers.map(answer => runOf(answer).id))).toEqual(new Set([runId]))
    expect(await api.runs(`?workflow=${name}`)).toHaveLength(1)
    const winner = answers.findIndex(({ status }) => status === 201)
    expect((await api.run(runId)).input).toBe(winner)
  })

  test('a paused workflow holds the run, and a dry run stores nothing', async () => {
    const name = unique('held')
    const policies = {
      concurrency: { limit: 2, key: 'event.data.customer' },
      priority: '7',
      idempotency: { key: '"k"' },
    }
    const drops = { rateLimit: { limit: 1, period: '1h' }, debounce: { period: '1h' } }
    const runner = await openRunner({
      workflows: { [name]: { handler: () => returned(), registration: { ...policies, ...drops } } },
    })
    await runner.register(api)
    const path = `/workflows/${runner.app}/${name}`
    const runId = `run_paused-${unique('x')}`
    const dry = () => other.post(`${path}/runs`, { runId, input: { customer: 'c-1' }, dryRun: true })
    const expected: Partial<StartPreview> = {
      dryRun: true,
      workflow: name,
      outcome: 'run',
      policies: {
        priority: { value: 7 },
        concurrency: [{ key: 'c-1', limit: 2, scope: 'workflow' }],
        throttle: undefined,
      },
    }
    expect(await dry()).toMatchObject({ status: 200, json: JSON.parse(JSON.stringify(expected)) })
    expect(await api.runs(`?workflow=${name}`)).toEqual([])
    expect((await api.post(`${path}/pause`)).status).toBe(200)
    await until(async () => ((await dry()).json as StartPreview).paused === true)
    expect((await other.post(`${path}/runs`, { runId })).status).toBe(201)
    await until(async () => (await api.run(runId)).waitingFor?.kind === 'workflow-paused')
    expect(await dry()).toMatchObject({
      status: 200,
      json: { outcome: 'repeat', run: { id: runId, status: 'queued' } },
    })
    // Policies of events drop no start.
    const second = runOf(await api.post(`${path}/runs`)).id
    await until(async () => (await api.run(second)).waitingFor?.kind === 'workflow-paused')
    expect((await api.post(`${path}/resume`)).status).toBe(200)
    await Promise.all([runId, second].map(id => api.succeeded(id)))
  })
})
