// Current and past definitions of a workflow, on both databases and with two engines on one
// (docs/concepts.md#past-definitions).

import type { PastDefinition, WorkflowDefinition } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Api, openEngine, openEngines, PLACES, PlainRunner, returned, unique, until } from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }

describe.each(PLACES)('on %s', (_, freshStore, count) => {
  async function open() {
    const { storeFile, engines } = await openEngines(freshStore, count, { env })
    const [app, name] = [unique('shop'), unique('order')]
    const apis = () => engines.map(({ api }) => api)
    /** Registers the workflow at one of the engines. */
    const register = async (registration: Record<string, unknown>, { runner = 'r1', at = 0 } = {}) => {
      const workflows = { [name]: { handler: () => returned(), registration } }
      const plain = await new PlainRunner({ app, runner, workflows }).listen()
      await plain.register(apis()[at % count] as Api)
      return plain
    }
    const page = (query = '', at = 0) =>
      (apis()[at % count] as Api).get(`/workflows/${app}/${name}/definitions${query}`)
    const listed = async (query = '', at = 0) => (await page(query, at)).json as PastDefinition[]
    const restart = async () => {
      for (const engine of engines) await engine.stop()
      engines.splice(0, engines.length, await openEngine({ storeFile, env }))
    }
    return { engines, app, name, api: () => apis()[0] as Api, register, page, listed, restart }
  }
  const attempts = (n: number) => ({ retry: { maxAttempts: n } })
  const attemptsOf = (list: readonly PastDefinition[]) => list.map(({ definition }) => definition.retry.maxAttempts)

  test('each change is kept with its time, hash and runner; heartbeats and equal definitions add nothing', async () => {
    const { app, name, api, register, page, listed, restart } = await open()
    expect((await page()).status).toBe(404)
    const first = await register({ ...attempts(2), concurrency: { limit: 3 }, attributes: { id: 'event.data.id' } })
    const [only] = await listed()
    expect(await listed()).toHaveLength(1)
    const [workflow] = (await api().get(`/workflows?app=${app}`)).json as [WorkflowDefinition]
    expect(only).toEqual({
      hash: expect.stringMatching(/^[\w-]{12}$/),
      registeredAt: workflow.updatedAt,
      runner: 'r1',
      definition: {
        retry: workflow.retry,
        triggers: [{ event: name }],
        flowControl: { concurrency: [{ limit: 3, scope: 'workflow' }] },
        onFailure: false,
        attributes: { id: 'event.data.id' },
      },
    })
    await first.register(api())
    // The same at another engine, and after a restart, when the engine knows the definition from the store.
    await register({ ...attempts(2), concurrency: { limit: 3 }, attributes: { id: 'event.data.id' } }, { at: 1 })
    expect(await listed()).toEqual([only])
    await register(attempts(3), { runner: 'r2', at: 1 })
    await until(async () => (await listed()).length === 2, { what: 'the change at the first engine' })
    const newest = { ...attempts(2), concurrency: { limit: 4 } }
    await register(newest, { runner: 'r3' })
    await until(async () => (await listed('', 1)).length === 3, { what: 'the change at the other engine' })
    const all = await listed()
    expect(attemptsOf(all)).toEqual([2, 3, 2])
    expect(all.map(({ runner }) => runner)).toEqual(['r3', 'r2', 'r1'])
    expect(all[2]).toEqual(only)
    const times = all.map(({ registeredAt }) => registeredAt)
    expect([...times].sort().reverse()).toEqual(times)
    const runners = (await api().get(`/runners?app=${app}`)).json as { workflows: { definitionHash: string }[] }[]
    expect(runners.map(({ workflows }) => workflows[0]?.definitionHash)).toContain(all[0]?.hash)
    await restart()
    const present = ((await api().get(`/workflows?app=${app}`)).json as [WorkflowDefinition])[0].updatedAt
    await register(newest, { runner: 'r3' })
    expect(await listed()).toEqual(all)
    expect(((await api().get(`/workflows?app=${app}`)).json as [WorkflowDefinition])[0].updatedAt).toBe(present)
  })

  test('the list comes in pages, and goes with the workflow', async () => {
    const { app, name, api, register, page, listed } = await open()
    for (const n of [1, 2, 3]) await register(attempts(n))
    const first = await page('?limit=2')
    expect(attemptsOf(first.json as PastDefinition[])).toEqual([3, 2])
    const cursor = first.headers.get('x-next-cursor') as string
    const last = await page(`?limit=2&cursor=${cursor}`)
    expect(attemptsOf(last.json as PastDefinition[])).toEqual([1])
    expect(last.headers.get('x-next-cursor')).toBeNull()
    expect(await page('?limit=x')).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(await page('?cursor=x')).toMatchObject({ status: 400, code: 'invalid_cursor' })
    const elsewhere = await api().get(`/workflows/${app}/other/definitions?cursor=${cursor}`)
    expect(elsewhere).toMatchObject({ status: 400, code: 'invalid_cursor' })
    expect((await api().get(`/workflows/${app}/other/definitions`)).status).toBe(404)

    expect((await api().request('DELETE', `/workflows/${app}/${name}?force=1`)).status).toBe(204)
    expect((await page()).status).toBe(404)
    await register(attempts(9), { runner: 'another' })
    expect(attemptsOf(await listed())).toEqual([9])
  })
})
