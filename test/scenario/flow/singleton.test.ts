// Singletons, over the HTTP interface (docs/flow-control.md#singleton).

import type { SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { child, emit, flow, gate, run, scenario, unique, until, wait } from '../../kit/index.ts'

const { api, engine, workflow } = await scenario({ realTime: true })

const runsOf = (workflow: string) => api.runs(`?workflow=${workflow}&limit=200`)

const single = async (singleton: object, handler = flow([wait('hold', 'nothing')])): Promise<string> =>
  (await workflow(handler, { registration: { singleton } })).name

const send = async (name: string, k = 'x') => (await api.post('/events', { name, data: { k } })).json as SendEventReply
const runIdOf = ({ runId }: SendEventReply) => runId as string

test('skip: while a run of the key is live, others are skipped, at both levels', async () => {
  const name = await single({ mode: 'skip', key: 'event.data.k' })
  const first = runIdOf(await send(name))
  const second = await send(name)
  expect(second).toEqual({
    eventId: expect.any(String),
    woke: 0,
    triggered: [{ workflow: name, app: expect.any(String), skipped: true, liveRunId: first }],
    skipped: true,
    liveRunId: first,
  })
  expect((await send(name, 'y')).runId).toBeDefined()
  await api.post(`/runs/${first}/pause`)
  expect((await send(name)).skipped).toBe(true)
  await api.post(`/runs/${first}/cancel`)
  expect((await send(name)).runId).toBeDefined()
})

test('cancel: by the time of the answer the live run is cancelled, its children get a cancel request, and its pass is aborted', async () => {
  const kid = unique('kid')
  const cut = gate()
  const name = unique('single')
  await engine.runner({
    workflows: {
      [kid]: flow([wait('hold', 'nothing')]),
      [name]: {
        handler: flow([
          [
            child('kid', kid),
            run('slow', ({ signal, event }) => {
              if ((event.data as { k: string }).k !== 'first') return 'done'
              signal.addEventListener('abort', () => cut.open())
              return cut.opened
            }),
          ],
        ]),
        registration: { singleton: { mode: 'cancel' } },
      },
    },
  })
  const first = runIdOf(await send(name, 'first'))
  await until(async () => (await api.run(first)).status === 'running')
  const second = runIdOf(await send(name, 'second'))
  expect(await api.run(first)).toMatchObject({ status: 'cancelled' })
  expect(await api.run(first)).not.toHaveProperty('error')
  await cut.opened
  await api.reaches(second, 'waiting')
  const third = runIdOf(await send(name, 'third'))
  expect((await api.run(second)).status).toBe('cancelled')
  const kids = await until(async () => {
    const kids = await runsOf(kid)
    return kids.length === 2 && kids.filter(({ status }) => status === 'cancelled').length === 1 && kids
  })
  expect(kids.find(({ status }) => status === 'cancelled')?.parentRunId).toBe(second)
  expect((await api.run(third)).status).not.toBe('cancelled')
})

test('cancel: after many events at once one run is live, and each but the last is cancelled', async () => {
  const name = await single({ mode: 'cancel' })
  await Promise.all(Array.from({ length: 12 }, () => send(name)))
  const runs = await runsOf(name)
  expect(runs).toHaveLength(12)
  expect(runs.filter(({ status }) => status !== 'cancelled')).toHaveLength(1)
})

test('a run that emits the event that cancels it ends with that pass', async () => {
  const name = unique('again')
  const runner = await engine.runner({
    workflows: {
      [name]: {
        handler: flow([
          emit('again', 'not-yet'),
          run('choose', ({ event }) => (event.data as { k: string }).k),
          [emit('self', name, { k: 'last' })],
          run('after'),
        ]),
        registration: { singleton: { mode: 'skip' } },
      },
    },
  })
  const first = runIdOf(await send(name))
  // With `skip`, the event starts nothing because the run itself is live.
  await api.succeeded(first)
  expect(await runsOf(name)).toHaveLength(1)
  await runner.register(api, {
    workflows: [{ name, singleton: { mode: 'cancel' }, triggers: [{ event: name, if: 'event.data.k != "end"' }] }],
  })
  const second = runIdOf(await send(name, 'second'))
  await until(async () => (await api.run(second)).status === 'cancelled')
  expect((await api.steps(second)).map(step => step.name)).not.toContain('after')
  // Each successor cancels itself in turn, until the workflow is gone: there is never more than one run.
  await runner.close()
  const live = (await runsOf(name)).filter(({ status }) => ['queued', 'running', 'waiting'].includes(status))
  expect(live.length).toBeLessThanOrEqual(1)
})

test('an emit that a singleton skips says so on its step and in the log of its run', async () => {
  const name = unique('poll')
  await engine.runner({
    workflows: {
      [name]: { handler: flow([emit('again', name, { k: 'again' })]), registration: { singleton: { mode: 'skip' } } },
    },
  })
  const runId = runIdOf(await send(name))
  await api.succeeded(runId)
  const triggered = [{ workflow: name, app: expect.any(String), skipped: true, liveRunId: runId }]
  expect(await api.step(runId, 'again')).toMatchObject({ effects: { woke: 0, triggered } })
  const logs = (await api.get(`/runs/${runId}/logs`)).json
  expect(logs).toMatchObject([{ level: 'warn', scope: 'again', message: expect.stringContaining('this run is live') }])
})

test('cancel: a direct start cancels the live run, and a bulk replay leaves one of its forks', async () => {
  const { name, app } = await workflow(flow([wait('hold', 'nothing')]), {
    registration: { singleton: { mode: 'cancel' } },
  })
  const start = async () => (await api.post(`/workflows/${app}/${name}/runs`)).json as { id: string }
  const first = await start()
  const second = await start()
  expect(await api.run(first.id)).toMatchObject({ status: 'cancelled' })
  await api.post(`/runs/${second.id}/cancel`)
  const { json } = await api.post('/runs/bulk-replay', { workflow: name })
  expect(json).toMatchObject({ matched: 2, replayed: 2, skipped: 0, failed: 0 })
  await until(async () => (await runsOf(name)).filter(({ status }) => status === 'waiting').length === 1)
  expect((await runsOf(name)).filter(({ status }) => status === 'cancelled')).toHaveLength(3)
})

test('skip: a repeat of a direct start with its id is the live run itself, and a bulk replay counts what is skipped', async () => {
  const { name, app } = await workflow(flow([wait('hold', 'nothing')]), {
    registration: { singleton: { mode: 'skip' } },
  })
  const path = `/workflows/${app}/${name}/runs`
  const runId = `run_${unique('given-one').replaceAll('.', '_')}`
  expect((await api.post(path, { runId })).status).toBe(201)
  expect(await api.post(path, { runId })).toMatchObject({ status: 200, json: { id: runId } })
  expect((await api.post(path, { dryRun: true })).json).toMatchObject({ outcome: 'skipped', liveRunId: runId })
  expect((await send(name)).triggered).toMatchObject([{ skipped: true, liveRunId: runId }])
  await api.post(`/runs/${runId}/cancel`)
  const other = (await api.post(path)).json as { id: string }
  await api.post(`/runs/${other.id}/cancel`)
  const { json } = await api.post('/runs/bulk-replay', { workflow: name })
  expect(json).toMatchObject({ matched: 2, replayed: 1, skipped: 1, failed: 0 })
})
