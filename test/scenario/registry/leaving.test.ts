// Runners that announce their shutdown (docs/wire-protocol.md#leave).

import type { Runner } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, type PlainRunner, run, scenario, unique, waitsFor } from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

const isLive = async ({ app }: PlainRunner) =>
  ((await api.get(`/runners?app=${app}`)).json as Runner[]).map(({ runnerId, live }) => [runnerId, live])

describe('a runner that leaves', () => {
  test('is not live and gets no run until it registers again; its workflows stay', async () => {
    const { name, runner } = await workflow(flow([run('work')]), { runner: 'r' })
    const { json } = await runner.register(api, { leaving: true })
    expect(json).toMatchObject({ ok: true, runnerId: 'r', workflows: 1 })
    expect(await isLive(runner)).toEqual([['r', false]])
    const { runId } = await api.send({ name })
    const pinned = await api.send({ name, runner: 'r' })
    for (const held of [runId, pinned.runId]) {
      expect(await waitsFor(api, held, 'runner')).toMatchObject({ status: 'queued' })
      expect((await api.get(`/runs/${held}/why`)).json).toMatchObject({ missing: { workflow: name } })
    }
    clock.jump(30_000)
    await waitsFor(api, runId, 'runner')
    expect(runner.record.invokes).toEqual([])
    await runner.register(api)
    expect(await isLive(runner)).toEqual([['r', true]])
    for (const held of [runId, pinned.runId]) await api.succeeded(held)
  })

  test('finishes the pass that it has, and the next one goes to another', async () => {
    const [app, name] = [unique('app'), unique('work')]
    const leaving: PlainRunner = await engine.runner({
      app,
      runner: 'old',
      workflows: {
        [name]: flow([
          run('first', async () => {
            await engine.runner({ app, runner: 'new', workflows: { [name]: flow([run('first'), run('second')]) } })
            await leaving.register(api, { leaving: true })
            return 'by old'
          }),
          run('second'),
        ]),
      },
    })
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    expect(leaving.record.passes(runId)).toBe(1)
    const [first] = await api.steps(runId)
    expect(first).toMatchObject({ name: 'first', data: 'by old' })
  })
})

describe('several processes behind one URL', () => {
  const setUp = async () => {
    const { runner } = await workflow(flow([run('work')]))
    const says = (instance: string, extra = {}) => runner.register(api, { instance, ...extra })
    await says('one')
    await says('two')
    return { runner, says }
  }

  test('have left when the last of them has', async () => {
    const { runner, says } = await setUp()
    await says('two', { leaving: true })
    expect(await isLive(runner)).toEqual([[runner.url, true]])
    await says('one', { leaving: true })
    expect(await isLive(runner)).toEqual([[runner.url, false]])
    await says('three')
    expect(await isLive(runner)).toEqual([[runner.url, true]])
  })

  test('do not wait for one that died without a word', async () => {
    const { runner, says } = await setUp()
    clock.jump(91_000)
    await says('one')
    await says('one', { leaving: true })
    expect(await isLive(runner)).toEqual([[runner.url, false]])
  })
})

test('a runner that nobody knows may leave; a bad instance or flag is refused', async () => {
  const body = { app: unique('app'), url: 'http://127.0.0.1:9/', workflows: [] }
  expect((await api.post('/register', { ...body, leaving: true })).status).toBe(200)
  expect((await api.get(`/runners?app=${body.app}`)).json).toEqual([])
  for (const bad of [{ leaving: 'yes' }, { instance: 'x'.repeat(65) }, { instance: '' }, { instance: 'a\nb' }]) {
    const refused = await api.post('/register', { ...body, ...bad })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(Object.keys(bad)[0] as string)])
  }
})
