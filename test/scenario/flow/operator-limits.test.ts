// Limits that an operator sets instead of the registered ones (docs/flow-control.md#limits-of-an-operator).

import type { ControlAction, RunExplanation, WorkflowDefinition } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, gate, type Handler, returned, run, scenario, until, waitsFor } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

/** A workflow whose runs stay in their only pass until `open` is called. */
async function held(registration: Record<string, unknown>) {
  const started: string[] = []
  const door = gate()
  const handler: Handler = async ({ ctx }) => {
    started.push(ctx.runId)
    await door.opened
    return returned(null)
  }
  const { name } = await workflow(handler, { registration })
  const send = async (data: object = {}) => {
    clock.jump(1)
    return (await api.send({ name, data })).runId as string
  }
  const path = `/workflows/${(await api.run(await send())).app}/${name}/limits`
  await until(() => started.length === 1)
  return { name, path, send, started, open: door.open }
}

const set = async (path: string, body: object) => {
  const answer = await api.put(path, body)
  expect(answer.status, answer.text).toBe(200)
  return (answer.json as WorkflowDefinition).limits
}
const why = async (id: string) => ((await api.get(`/runs/${id}/why`)).json as RunExplanation).sentence

test('a concurrency limit counts for queued runs at once, is shown, and goes with DELETE', async () => {
  const { name, path, send, started } = await held({ concurrency: { limit: 1 } })
  const queued = [await send(), await send(), await send()]
  for (const id of queued) await waitsFor(api, id, 'concurrency')
  expect(await set(path, { concurrency: 3 })).toEqual({ concurrency: 3 })
  await until(() => started.length === 3)
  expect(started).toEqual([started[0], queued[0], queued[1]])
  const last = queued[2] as string
  await waitsFor(api, last, 'concurrency')
  expect(await why(last)).toContain('An operator has set the limit to 3.')
  expect((await api.get(`/limits?workflow=${name}`)).json).toMatchObject([{ kind: 'concurrency', limit: 3 }])
  const removed = await api.request('DELETE', path)
  expect(removed).toMatchObject({ status: 200, json: { flowControl: { concurrency: [{ limit: 1 }] } } })
  expect((removed.json as WorkflowDefinition).limits).toBeUndefined()
  expect(await why(last)).not.toContain('operator')
  expect((await api.get(`/limits?workflow=${name}`)).json).toMatchObject([{ limit: 1 }])
  const [reset, first] = (await api.get('/control-actions')).json as ControlAction[]
  expect([reset?.action, first?.action]).toEqual(['workflow.limits', 'workflow.limits'])
  expect(first?.detail).toMatchObject({ workflow: name, concurrency: 3 })
})

test('0 starts nothing, null and a body without limits are the registered ones', async () => {
  const { path, send, started } = await held({ concurrency: [{ limit: 2, key: 'event.data.user' }] })
  expect(await set(path, { concurrency: 0 })).toEqual({ concurrency: 0 })
  const id = await send()
  await waitsFor(api, id, 'concurrency')
  expect(await why(id)).toContain('an operator has set the limit to 0, and nothing starts')
  expect(await set(path, { concurrency: null, throttle: null })).toBeUndefined()
  await until(() => started.includes(id))
  await set(path, { concurrency: 1 })
  expect(await set(path, {})).toBeUndefined()
})

test('of several concurrency limits the one without a key is moved', async () => {
  const { path, send, started } = await held({ concurrency: [{ limit: 1, key: 'event.data.user' }, { limit: 9 }] })
  await set(path, { concurrency: 2 })
  const [second, third] = [await send({ user: 'b' }), await send({ user: 'c' })]
  await until(() => started.includes(second))
  await waitsFor(api, third, 'concurrency')
})

test('a throttle: a raised limit counts at once, 0 stops the starts, DELETE is the registered rate', async () => {
  const { name } = await workflow(flow([run('charge')]), { registration: { throttle: { limit: 1, period: '1h' } } })
  const send = async () => (await api.send({ name })).runId as string
  const first = await send()
  await api.succeeded(first)
  const path = `/workflows/${(await api.run(first)).app}/${name}/limits`
  const queued = [await send(), await send(), await send()]
  for (const id of queued) await waitsFor(api, id, 'throttle')
  await set(path, { throttle: 60 })
  await api.succeeded(queued[0] as string)
  clock.jump(60_000)
  await api.succeeded(queued[1] as string)
  expect(await why(queued[2] as string)).toContain('An operator has set the limit to 60.')
  expect((await api.get(`/limits?workflow=${name}`)).json).toMatchObject([{ kind: 'throttle', limit: 60 }])

  await set(path, { throttle: 0 })
  await until(async () => (await api.run(queued[2] as string)).waitingFor?.until === undefined)
  clock.jump(120_000)
  const explained = (await api.get(`/runs/${queued[2]}/why`)).json as RunExplanation
  expect(explained.sentence).toContain('an operator has set the limit to 0')
  expect(explained.wakeAt).toBeUndefined()
  clock.jump(3_600_000)
  await waitsFor(api, queued[2] as string, 'throttle')
  await api.request('DELETE', path)
  await api.succeeded(queued[2] as string)
})

test('limits stay through registrations, also through one that lacks the workflow', async () => {
  const { name } = await workflow(flow([run('charge')]), { registration: { concurrency: { limit: 5 } } })
  const shown = async () => ((await api.get('/workflows')).json as WorkflowDefinition[]).find(one => one.name === name)
  const { app } = (await shown()) as WorkflowDefinition
  await set(`/workflows/${app}/${name}/limits`, { concurrency: 2 })
  const register = (workflows: object[]) =>
    api.post('/register', { app, runner: 'limits-1', url: 'http://127.0.0.1:9/invoke', workflows })
  expect((await register([{ name, concurrency: { limit: 7 } }])).status).toBe(200)
  expect(await shown()).toMatchObject({ limits: { concurrency: 2 }, flowControl: { concurrency: [{ limit: 7 }] } })
  await register([])
  await register([{ name, concurrency: { limit: 7 } }])
  expect((await shown())?.limits).toEqual({ concurrency: 2 })
})

test('a limit that the workflow does not register is refused, and so is a number out of bounds', async () => {
  const { name } = await workflow(flow([run('charge')]), { registration: { concurrency: { limit: 5 } } })
  const { app } = ((await api.get('/workflows')).json as WorkflowDefinition[]).find(one => one.name === name) ?? {}
  const path = `/workflows/${app}/${name}/limits`
  for (const [body, field] of [
    [{ throttle: 5 }, 'throttle'],
    [{ concurrency: -1 }, 'concurrency'],
    [{ concurrency: 1.5 }, 'concurrency'],
    [{ concurrency: 1_000_001 }, 'concurrency'],
    [{ concurrency: '5' }, 'concurrency'],
  ] as const) {
    const { status, text } = await api.put(path, body)
    expect(status, text).toBe(400)
    expect(text).toContain(field)
  }
  expect(await api.put(`/workflows/${app}/none/limits`, {})).toMatchObject({ status: 404 })
  expect(await api.request('DELETE', `/workflows/${app}/none/limits`)).toMatchObject({ status: 404 })
})
