// Open buffers of debounce and batch: the list, and starting their run at once, on both databases and with two engines on one
// (docs/flow-control.md#bursts-and-batches-under-way).

import type { BufferEntry, ControlAction } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Api, JumpClock, openEngines, openRunner, PLACES, returned, unique, until } from '../../kit/index.ts'

describe.each(PLACES)('on %s', (_, freshStore, count) => {
  async function open() {
    const clock = new JumpClock()
    const env = { ENGINE_QUEUE: 'memory' }
    const { api, other } = await openEngines(freshStore, count, { clock, env })
    const register = async (app: string, workflows: Record<string, Record<string, unknown>>) => {
      const served = Object.entries(workflows).map(([name, registration]) => [
        name,
        { handler: () => returned(), registration },
      ])
      const runner = await openRunner({ app, runner: `${app}-1`, workflows: Object.fromEntries(served) })
      await runner.register(api)
    }
    return { api, other, clock, register }
  }
  const listed = async (api: Api, query = '') => (await api.get(`/buffers${query}`)).json as BufferEntry[]
  const at = (ms: number) => new Date(ms).toISOString()

  test('buffers are listed with their events and times, the soonest due first, in pages', async () => {
    const { api, other, clock, register } = await open()
    const app = unique('shop')
    const [burst, pack, plain] = ['burst', 'pack', 'plain'].map(unique) as [string, string, string]
    await register(app, {
      [burst]: { debounce: { period: '10s' } },
      [pack]: { batch: { maxSize: 4, timeout: '1h', key: 'event.data.city' } },
      [plain]: { idempotency: { key: 'event.id' } },
    })
    const began = clock.now()
    const send = async (name: string, city: string) => (await api.send({ name, data: { city } })).eventId
    const berlin = [await send(pack, 'berlin'), await send(pack, 'berlin')]
    clock.jump(1000)
    await send(pack, 'rome')
    await send(plain, 'rome')
    const bursts = [await send(burst, 'rome')]
    clock.jump(4000)
    bursts.push(await send(burst, 'rome'))

    const all = await listed(other)
    const [first, second, third] = all
    expect(all).toHaveLength(3)
    expect(first).toEqual({
      id: expect.stringMatching(/^[\w-]{43}$/),
      kind: 'debounce',
      app,
      workflow: burst,
      count: 2,
      eventName: burst,
      firstEventId: bursts[0],
      lastEventId: bursts[1],
      firstAt: at(began + 1000),
      lastAt: at(began + 5000),
      dueAt: at(began + 15_000),
    })
    expect(second).toMatchObject({ kind: 'batch', workflow: pack, key: 'berlin', count: 2, maxSize: 4 })
    expect(second).toMatchObject({ firstEventId: berlin[0], lastEventId: berlin[1], dueAt: at(began + 3_600_000) })
    expect(third).toMatchObject({ key: 'rome', count: 1, lastAt: at(began + 1000), dueAt: at(began + 3_601_000) })

    const keysOf = async (query: string) => (await listed(api, query)).map(({ kind, key }) => key ?? kind)
    expect(await keysOf('?kind=debounce')).toEqual(['debounce'])
    expect(await keysOf(`?workflow=${pack}`)).toEqual(['berlin', 'rome'])
    expect(await keysOf(`?app=${app}&kind=batch`)).toEqual(['berlin', 'rome'])
    expect(await keysOf('?app=nobody')).toEqual([])
    expect(await api.pages('/buffers?limit=1')).toEqual(all.map(buffer => [buffer]))
    expect((await api.get('/buffers?kind=cron')).status).toBe(400)
  })

  test('a flush starts the run now, once, and the next event begins another buffer', async () => {
    const { api, other, clock, register } = await open()
    const [app, name] = [unique('shop'), unique('pack')]
    await register(app, { [name]: { batch: { maxSize: 9, timeout: '1h' } } })
    const ids = [(await api.send({ name, data: 1 })).eventId, (await api.send({ name, data: 2 })).eventId]
    const [{ id } = { id: '' }] = await listed(api, `?workflow=${name}`)
    const { status, json } = await other.post(`/buffers/${id}/flush`)
    const { runId } = json as { runId: string }
    expect(status).toBe(202)
    await until(
      async () => {
        // An engine that does not know the runner yet tries again.
        clock.jump(1000)
        return (await api.run(runId)).status === 'succeeded'
      },
      { what: 'the end of the run' },
    )
    expect(await api.run(runId)).toMatchObject({ input: [1, 2], eventIds: ids })
    expect(await listed(api)).toEqual([])
    for (const gone of [id, 'nobody']) expect((await api.post(`/buffers/${gone}/flush`)).status).toBe(404)
    const [entry] = (await api.get('/control-actions?action=buffer.flush')).json as ControlAction[]
    expect(entry).toMatchObject({ newRunId: runId, detail: { id, app, workflow: name, kind: 'batch' } })

    await api.send({ name, data: 3 })
    expect(await listed(api)).toMatchObject([{ id, count: 1 }])
    clock.jump(3_600_000)
    await until(async () => (await listed(other)).length === 0, { what: 'the second batch to fall due' })
    expect(await api.runs(`?workflow=${name}`)).toHaveLength(2)
  })

  test('of flushes at every engine and the due time, one starts the run', async () => {
    const { api, other, clock, register } = await open()
    const name = unique('burst')
    await register(unique('shop'), { [name]: { debounce: { period: '10s', key: 'event.data' } } })
    const keys = Array.from({ length: 8 }, (_, n) => String(n))
    for (const data of keys) await api.send({ name, data })
    const buffers = await listed(api)
    clock.jump(10_000)
    const flushes = await Promise.all(
      buffers.flatMap(({ id }) => [api, other].map(engine => engine.post(`/buffers/${id}/flush`))),
    )
    expect(flushes.filter(({ status }) => status !== 202 && status !== 404)).toEqual([])
    await until(async () => (await listed(api)).length === 0, { what: 'every buffer to become a run' })
    const runs = await api.runs(`?workflow=${name}`)
    expect(runs).toHaveLength(keys.length)
    const started = flushes.flatMap(({ status, json }) => (status === 202 ? [(json as { runId: string }).runId] : []))
    expect(new Set(started).size).toBe(started.length)
    expect(runs.map(({ id }) => id)).toEqual(expect.arrayContaining(started))
  })

  test('a buffer whose workflow is not registered any more is 409', async () => {
    const { api, other, register } = await open()
    const [app, name] = [unique('shop'), unique('burst')]
    await register(app, { [name]: { debounce: { period: '10s' } } })
    await api.send({ name })
    const [{ id } = { id: '' }] = await listed(api)
    await register(app, {})
    await until(async () => ((await other.get(`/workflows?app=${app}`)).json as unknown[]).length === 0)
    expect(await other.post(`/buffers/${id}/flush`)).toMatchObject({ status: 409, code: 'conflict' })
  })
})
