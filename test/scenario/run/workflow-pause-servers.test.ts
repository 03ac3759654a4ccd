// Paused workflows, on both databases and with two engines on one (docs/concepts.md#paused-workflows).

import type { ControlAction, RunExplanation, WorkflowDefinition } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  child,
  flow,
  openEngine,
  openEngines,
  openRunner,
  PLACES,
  returned,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const { api, other } = await openEngines(freshStore, count, { env })

  test('a paused workflow starts nothing until it is resumed', async () => {
    const name = unique('held')
    const parent = unique('parent')
    const gate = `go-${name}`
    const runner = await openRunner({
      workflows: {
        [name]: {
          handler: (invoke, record) =>
            invoke.event.data === 'wait' ? flow([wait('w', gate)])(invoke, record) : returned(),
          registration: { triggers: [{ event: name }, { cron: '0 0 1 1 *' }] },
        },
        [parent]: flow([child('c', name)]),
      },
    })
    await runner.register(api)
    const { app } = runner
    const started = await api.send({ name, app, data: 'wait' })
    await api.reaches(started.runId, 'waiting')
    const ended = (await api.send({ name, app })).runId
    await api.succeeded(ended)
    const act = async (verb: string) => {
      const answer = await api.post(`/workflows/${app}/${name}/${verb}`)
      expect(answer.status, answer.text).toBe(200)
      return answer.json as WorkflowDefinition
    }
    expect((await act('pause')).pausedAt).toBeDefined()
    expect((await act('pause')).pausedAt).toBeDefined()
    // A registration keeps the pause.
    await runner.register(other)
    await until(async () => {
      const shown = (await other.get(`/workflows?app=${app}`)).json as WorkflowDefinition[]
      return shown.find(workflow => workflow.name === name)?.pausedAt !== undefined
    })

    const held = (await other.send({ name, app })).runId
    const above = (await other.send({ name: parent, app })).runId
    await api.reaches(above, 'waiting')
    const below = (await until(async () => (await api.runs(`?parentRunId=${above}`))[0]?.id)) as string
    const fork = ((await other.post(`/runs/${ended}/replay`)).json as { id: string }).id
    const [schedule] = (await other.get('/schedules?source=workflow')).json as { id: string }[]
    const fired = ((await other.post(`/schedules/${schedule?.id}/fire`)).json as { runId: string }).runId
    const all = [held, below, fork, fired]
    for (const id of all) {
      await until(async () => (await api.run(id)).waitingFor?.kind === 'workflow-paused', {
        what: 'the run to be held',
      })
      expect((await api.run(id)).status).toBe('queued')
    }
    expect((await api.runs(`?app=${app}&waitingFor=workflow-paused`)).map(({ id }) => id).sort()).toEqual(
      all.toSorted(),
    )
    const why = (await other.get(`/runs/${held}/why`)).json as RunExplanation
    expect(why.sentence).toContain('is paused')
    // A run that has started continues.
    await api.send({ name: gate })
    await api.succeeded(started.runId)

    expect((await act('resume')).pausedAt).toBeUndefined()
    for (const id of [...all, above]) await api.succeeded(id)
    const actions = ((await api.get('/control-actions')).json as ControlAction[]).map(({ action }) => action)
    expect(actions).toEqual(['workflow.resume', 'schedule.fire', 'replay', 'workflow.pause'])
    expect(await api.post(`/workflows/${app}/${name}/resume`)).toMatchObject({
      status: 409,
      code: 'conflict',
      text: expect.stringContaining('is not paused'),
    })
    expect((await api.post(`/workflows/${app}/nobody/pause`)).status).toBe(404)
    expect((await api.post(`/workflows/${app}/nobody/resume`)).status).toBe(404)
  })

  test('a resume right after posts leaves no run behind', async () => {
    const name = unique('held')
    const runner = await openRunner({ workflows: { [name]: () => returned() } })
    await runner.register(api)
    const { app } = runner
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      expect((await api.post(`/workflows/${app}/${name}/pause`)).status).toBe(200)
      for (let n = 0; n < 5; n++) ids.push((await (n % 2 ? api : other).send({ name, app })).runId)
      expect((await (i % 2 ? api : other).post(`/workflows/${app}/${name}/resume`)).status).toBe(200)
    }
    for (const id of ids) await api.succeeded(id)
  })
})

test.each(PLACES)('a pause outlives the registration that lacks its workflow, on %s', async (_, freshStore, count) => {
  const { api, other, engines, storeFile } = await openEngines(freshStore, count, { env })
  const [name, peer, app] = [unique('held'), unique('peer'), unique('app')]
  const cron = '0 0 1 1 *'
  const workflows = { [name]: { handler: () => returned(), registration: { triggers: [{ event: name }, { cron }] } } }
  const whole = await openRunner({ app, runner: 'r', workflows: { ...workflows, [peer]: () => returned() } })
  const without = await openRunner({ app, runner: 'r', workflows: { [peer]: () => returned() } })
  await whole.register(api)
  const schedule = `wf:${app}:${name}:0`
  for (const path of [`/workflows/${app}/${name}/pause`, `/schedules/${schedule}/pause`])
    expect((await api.post(path)).status).toBe(200)
  const held = (await api.send({ name })).runId
  const isHeld = async (at: Api, id: string) => (await at.run(id)).waitingFor?.kind === 'workflow-paused'
  await until(() => isHeld(api, held))
  await without.register(other)
  for (const verb of ['pause', 'resume'])
    expect(await other.post(`/workflows/${app}/${name}/${verb}`)).toMatchObject({
      status: 404,
      text: expect.stringContaining('It stays paused'),
    })
  for (const engine of engines) await engine.stop()
  const again = await openEngine({ storeFile, env })
  await whole.register(again.api)
  const [listed] = (await again.api.get(`/workflows?app=${app}`)).json as WorkflowDefinition[]
  expect(listed).toMatchObject({ name, pausedAt: expect.any(String) })
  expect((await again.api.get('/schedules?source=workflow')).json).toMatchObject([{ id: schedule, paused: true }])
  const later = (await again.api.send({ name })).runId
  for (const id of [held, later]) await until(() => isHeld(again.api, id))
  for (const path of [`/workflows/${app}/${name}/resume`, `/schedules/${schedule}/resume`]) {
    expect((await again.api.post(path)).status).toBe(200)
    expect(await again.api.post(path)).toMatchObject({ status: 409, code: 'conflict' })
  }
  for (const id of [held, later]) await again.api.succeeded(id)
})
