// Deleting workflows and apps, on both databases and with two engines on one (docs/operating.md#deleting-workflows-and-apps).

import type {
  App,
  BufferEntry,
  ControlAction,
  RegisterReply,
  Runner,
  ScheduleEntry,
  WorkflowDefinition,
} from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  flow,
  openEngine,
  openEngines,
  PLACES,
  PlainRunner,
  returned,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }

describe.each(PLACES)('on %s', (_, freshStore, count) => {
  async function open() {
    const { storeFile, engines, api, other } = await openEngines(freshStore, count, { env })
    const restart = async () => {
      for (const engine of engines) await engine.stop()
      return (await openEngine({ storeFile, env })).api
    }
    return { api, other, restart }
  }
  const runnerOf = (app: string, workflows: Record<string, Record<string, unknown>>, id = `${app}-1`) => {
    const served = Object.entries(workflows).map(([name, registration]) => [
      name,
      { handler: () => returned(), registration },
    ])
    return new PlainRunner({ app, runner: id, workflows: Object.fromEntries(served) }).listen()
  }
  const remove = (api: Api, path: string) => api.request('DELETE', path)
  const listed = async <T>(api: Api, path: string) => (await api.get(path)).json as T[]
  const namesOf = async (api: Api, app: string) =>
    (await listed<WorkflowDefinition>(api, `/workflows?app=${app}`)).map(({ name }) => name)
  /** Resolves when the engine has exactly these workflows of the app. */
  const has = (api: Api, app: string, names: string[]) =>
    until(async () => JSON.stringify(await namesOf(api, app)) === JSON.stringify(names), {
      what: `the workflows ${names} of ${app}`,
    })

  test('a workflow goes with its schedules, buffers, pause and keys, once nobody serves it and no run is in flight', async () => {
    const { api, other, restart } = await open()
    const app = unique('shop')
    const [old, burst, waits] = ['old', 'burst', 'waits'].map(unique) as [string, string, string]
    const runner = await runnerOf(app, {
      [old]: { triggers: [{ event: old }, { cron: '0 0 1 1 *' }], idempotency: { key: 'event.name' } },
      [burst]: { debounce: { period: '1h' } },
    })
    runner.workflows[waits] = flow([wait('w', 'never')])
    await runner.register(api)
    await api.succeeded((await api.send({ name: old })).runId)
    expect((await api.send({ name: old })).triggered).toMatchObject([{ deduped: true }])
    const waiting = (await api.send({ name: waits })).runId
    await api.reaches(waiting, 'waiting')
    await api.send({ name: burst })
    await api.post(`/workflows/${app}/${old}/pause`)

    const path = (name: string) => `/workflows/${app}/${name}`
    const live = await remove(api, path(old))
    expect(live).toMatchObject({ status: 409, code: 'conflict' })
    expect(live.text).toContain(`${app}-1`)
    await runner.register(api, { leaving: true })
    for (const query of ['', '?force=1'])
      expect(await remove(api, path(waits) + query)).toMatchObject({ status: 409, code: 'conflict' })
    expect((await remove(api, `${path(waits)}?force=yes`)).status).toBe(400)
    expect(await namesOf(api, app)).toHaveLength(3)
    await api.post(`/runs/${waiting}/cancel`)
    await api.reaches(waiting, 'cancelled')
    for (const name of [waits, burst, old]) expect((await remove(api, path(name))).status).toBe(204)
    for (const engine of [api, other]) await has(engine, app, [])
    for (const list of ['/schedules?source=workflow', '/buffers']) expect(await listed(other, list)).toEqual([])
    for (const name of [waits, burst, old]) expect((await other.send({ name })).triggered).toEqual([])
    expect((await remove(api, path(old))).status).toBe(404)
    const entries = await listed<ControlAction>(api, '/control-actions?action=workflow.delete')
    expect(entries.map(({ detail }) => detail)).toEqual([old, burst, waits].map(workflow => ({ app, workflow })))
    // Past runs stay.
    expect((await api.runs(`?workflow=${old}`)).map(({ status }) => status)).toEqual(['succeeded'])
    expect(await listed(api, '/workflows/stats')).toMatchObject([{ workflow: expect.any(String) }, {}])

    const after = await restart()
    expect(await namesOf(after, app)).toEqual([])
    expect((await after.send({ name: burst })).triggered).toEqual([])
    await runner.register(after)
    const [again] = await listed<WorkflowDefinition>(after, `/workflows?app=${app}`).then(all =>
      all.filter(({ name }) => name === old),
    )
    expect(again?.pausedAt).toBeUndefined()
    expect(await listed<ScheduleEntry>(after, '/schedules')).toMatchObject([{ workflow: old, paused: false }])
    expect(await listed<BufferEntry>(after, '/buffers')).toEqual([])
    await after.succeeded((await after.send({ name: old })).runId)
  })

  test('with force a live runner loses its claim, until it registers another definition', async () => {
    const { api, other, restart } = await open()
    const app = unique('shop')
    const [kept, gone] = ['kept', 'gone'].map(unique) as [string, string]
    const runner = await runnerOf(app, { [gone]: {}, [kept]: {} })
    await runner.register(api)
    await has(other, app, [gone, kept].sort())
    expect((await remove(other, `/workflows/${app}/${gone}?force=1`)).status).toBe(204)
    for (const engine of [api, other]) {
      const reply = (await runner.register(engine)).json as RegisterReply
      expect(reply.workflows).toBe(1)
      expect(reply.warnings?.join()).toContain(`workflow "${gone}" was deleted`)
      await has(engine, app, [kept])
      expect((await engine.send({ name: gone })).triggered).toEqual([])
      await engine.succeeded((await engine.send({ name: kept })).runId)
    }
    const after = await restart()
    await runner.register(after)
    expect(await namesOf(after, app)).toEqual([kept])

    // Another runner of the app registers the old definition: the first runner still does not serve it.
    const second = await runnerOf(app, { [gone]: {} }, `${app}-2`)
    await second.register(after)
    await runner.register(after)
    expect(await namesOf(after, app)).toEqual([gone, kept].sort())
    for (let n = 0; n < 4; n++) await after.succeeded((await after.send({ name: gone })).runId)
    expect(runner.record.invokes.filter(({ ctx }) => ctx.workflow === gone)).toEqual([])
    await second.register(after, { leaving: true })
    expect((await remove(after, `/workflows/${app}/${gone}`)).status).toBe(204)

    runner.workflows[gone] = { handler: () => returned(), registration: { retry: { maxAttempts: 7 } } }
    expect(((await runner.register(after)).json as RegisterReply).warnings).toEqual([])
    expect(await namesOf(after, app)).toEqual([gone, kept].sort())
    await after.succeeded((await after.send({ name: gone })).runId)
    // Its earlier definition also counts again.
    runner.workflows[gone] = () => returned()
    await runner.register(after)
    expect(await namesOf(after, app)).toEqual([gone, kept].sort())
  })

  describe('without a restart', async () => {
    const { api, other } = await open()

    test('an app goes with its workflows and runners; with force its live runner does not bring it back', async () => {
      const [app, name] = [unique('shop'), unique('order')]
      const runner = await runnerOf(app, { [name]: { debounce: { period: '1h' } } })
      const away = await runnerOf(app, { [name]: { debounce: { period: '1h' } } }, `${app}-2`)
      for (const each of [away, runner]) await each.register(api)
      await away.register(api, { leaving: true })
      await api.send({ name })
      const apps = async (of: Api) => (await listed<App>(of, '/apps')).map(one => one.name)
      await has(other, app, [name])
      expect(await remove(other, `/apps/${app}`)).toMatchObject({ status: 409, code: 'conflict' })
      expect((await remove(other, `/apps/${app}?force=1`)).status).toBe(204)
      for (const engine of [api, other]) {
        await has(engine, app, [])
        await runner.register(engine)
        await until(async () => !(await apps(engine)).includes(app), { what: 'the app to be gone' })
      }
      expect(await listed(api, '/buffers')).toEqual([])
      expect((await listed<Runner>(api, `/runners?app=${app}`)).map(({ runnerId }) => runnerId)).toEqual([`${app}-1`])
      expect((await remove(api, `/apps/${app}`)).status).toBe(404)
      const [entry] = await listed<ControlAction>(api, '/control-actions?action=app.delete')
      expect(entry?.detail).toEqual({ app, force: true })
      runner.workflows[name] = () => returned()
      await runner.register(api)
      expect(await apps(api)).toContain(app)

      const [idle, nothing] = [unique('idle'), unique('nothing')]
      const leaves = await runnerOf(idle, { [nothing]: {} })
      await leaves.register(api)
      await leaves.register(api, { leaving: true })
      await has(other, idle, [nothing])
      expect((await remove(other, `/apps/${idle}`)).status).toBe(204)
      expect(await listed(other, `/runners?app=${idle}`)).toEqual([])
    })

    test('of events that arrive during a deletion, none leaves a buffer or a run behind', async () => {
      const app = unique('shop')
      const runner = await runnerOf(app, {})
      for (let round = 0; round < 8; round++) {
        const name = unique('raced')
        const isBuffered = round % 2 === 0
        const registration = { ...(isBuffered ? { debounce: { period: '1h', key: 'event.data' } } : {}) }
        runner.workflows[name] = { handler: () => returned(), registration }
        await runner.register(api)
        await has(other, app, [name])
        await runner.register(api, { leaving: true })
        const send = (data: number) => [api, other][data % 2]?.post('/events', { name, data: String(data) })
        const sent = Array.from({ length: 30 }, (_, n) => n)
        const before = sent.slice(0, isBuffered ? 15 : 0).map(send)
        const deleting = remove(other, `/workflows/${app}/${name}`)
        const after = sent.slice(15).map(send)
        const { status } = await deleting
        await Promise.all([...before, ...after])
        const runs = await api.runs(`?workflow=${name}`)
        if (status === 204) {
          expect(runs).toEqual([])
          expect(await listed(api, `/buffers?workflow=${name}`)).toEqual([])
        } else {
          expect(status).toBe(409)
          expect(runs.length).toBeGreaterThan(0)
          for (const { id } of runs) await api.post(`/runs/${id}/cancel`)
          for (const { id } of runs) await api.reaches(id, 'cancelled')
          expect((await remove(api, `/workflows/${app}/${name}`)).status).toBe(204)
        }
        delete runner.workflows[name]
      }
    })
  })
})
