// A suspended namespace starts nothing new, and continues its runs (docs/security.md#suspended-namespaces).

import { openAdministration } from '@perdure/engine'
import { expect, test } from 'vitest'
import {
  child,
  emit,
  flow,
  type Invoke,
  onCleanup,
  returned,
  run,
  StepFailure,
  scenario,
  step,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'
import { callbackUrl } from '../../kit/runner/wire.ts'

const { api, clock, engine } = await scenario({ onDisk: true })
const { administration, close } = await openAdministration(engine.store)
onCleanup(close)

/** Waits until the running engine has noticed. Posts events without a trigger to find out. */
async function follows(suspended: boolean): Promise<void> {
  await until(
    async () => {
      clock.jump(1000)
      const { json } = await api.post('/events', { name: unique('nothing') })
      return ((json as { suspended?: boolean }).suspended ?? false) === suspended
    },
    { what: `the engine following: suspended ${suspended}` },
  )
}

async function whileSuspended(action: () => Promise<void>): Promise<void> {
  await administration.suspend('default')
  await follows(true)
  try {
    await action()
  } finally {
    await administration.resume('default')
    await follows(false)
  }
}

test('events are recorded and claim their dedupe id, but start no run', async () => {
  const name = unique('workflow')
  const { record } = await engine.runner({ workflows: { [name]: () => returned() } })
  const event = { name, data: 1, dedupeId: unique('once') }
  await whileSuspended(async () => {
    const { status, json } = await api.post('/events', event)
    expect(status).toBe(202)
    const { eventId } = json as { eventId: string }
    expect(json).toEqual({ eventId, woke: 0, triggered: [], suspended: true })
    expect((await api.get(`/events/${eventId}/why`)).json).toMatchObject({
      suspended: true,
      workflows: [{ outcome: 'suspended' }],
    })
    expect(await api.event(eventId)).toMatchObject({ name, data: 1, triggered: [] })
    expect((await api.post('/events', event)).json).toEqual({ deduped: true })
  })
  expect((await api.post('/events', event)).json).toEqual({ deduped: true })
  expect((await api.runs(`?q=${name}`)).length).toBe(0)
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  expect(record.executed).toEqual([])
})

test('a callback takes its post, and the run goes on', async () => {
  const name = unique('asks')
  const runner = await engine.runner({ workflows: { [name]: flow([step('WaitForCallback', 'approval', {})]) } })
  await runner.register(api, { features: ['callbacks'] })
  const { runId } = await api.send({ name })
  await waitsFor(api, runId, 'callback')
  const [invoke] = runner.record.of(runId) as [Invoke]
  await whileSuspended(async () => {
    const { pathname } = new URL(callbackUrl(invoke.ctx, 'approval'))
    expect((await api.post(pathname, { by: 'ada' })).status).toBe(202)
    await api.succeeded(runId)
  })
  expect(await api.step(runId, 'approval')).toMatchObject({ data: { by: 'ada' } })
})

test('an event that was sent to arrive later starts what it may start when it arrives', async () => {
  const [name, event] = [unique('later'), unique('due')]
  await engine.runner({ workflows: { [name]: { handler: () => returned(), registration: { triggers: [{ event }] } } } })
  const later = async (delay: string) => ((await api.post('/events', { name: event, delay })).json as Later).eventId
  type Later = { eventId: string }
  const due = await later('1h')
  let sentMeanwhile = ''
  const arrived = async (eventId: string) => until(async () => (await api.get(`/events/${eventId}`)).status === 200)
  await whileSuspended(async () => {
    clock.jump(3_600_000)
    await arrived(due)
    expect((await api.event(due)).triggered).toEqual([])
    sentMeanwhile = await later('1h')
  })
  clock.jump(3_600_000)
  await arrived(sentMeanwhile)
  expect((await api.event(sentMeanwhile)).triggered).toMatchObject([{ workflow: name }])
})

test('emitted events are recorded and wake, too, but start no run', async () => {
  const [name, go, said, listener, waiter] = ['emitter', 'go', 'said', 'listener', 'waiter'].map(unique) as [
    string,
    string,
    string,
    string,
    string,
  ]
  await engine.runner({
    workflows: {
      [name]: flow([wait('w', go), emit('notify', said)]),
      [waiter]: flow([wait('w', said)]),
      [listener]: { handler: () => returned(), registration: { triggers: [{ event: said }] } },
    },
  })
  const emitter = await api.send({ name })
  const waiting = await api.send({ name: waiter })
  for (const { runId } of [emitter, waiting]) await waitsFor(api, runId, 'event')
  await whileSuspended(async () => {
    await api.send({ name: go })
    await api.succeeded(emitter.runId)
    await api.succeeded(waiting.runId)
    const { emittedEventId } = await api.step(emitter.runId, 'notify')
    expect(await api.event(emittedEventId as string)).toMatchObject({
      woke: 1,
      triggered: [],
      source: 'emit',
    })
  })
  expect(await api.runs(`?q=${listener}`)).toEqual([])
})

test('events wake the runs that wait, whose children and on-failure runs start all the same', async () => {
  const [name, go, kid] = [unique('parent'), unique('go'), unique('kid')]
  const parent = flow([
    wait('w', go),
    child('c', kid),
    run('fails', () => {
      throw new StepFailure('no', { retriable: false })
    }),
  ])
  await engine.runner({
    workflows: {
      [name]: {
        handler: (invoke, record) => (invoke.ctx.onFailure ? returned('followed') : parent(invoke, record)),
        registration: { onFailure: true },
      },
      [kid]: () => returned('done'),
    },
  })
  const { runId } = await api.send({ name })
  await waitsFor(api, runId, 'event')
  await whileSuspended(async () => {
    expect((await api.post('/events', { name: go })).json).toMatchObject({ woke: 1, suspended: true })
    await api.failed(runId)
    expect(await api.step(runId, 'c')).toMatchObject({ status: 'succeeded', data: 'done' })
    const followed = await until(async () =>
      (await api.runs()).find(({ parentRunId, workflow }) => parentRunId === runId && workflow === name),
    )
    expect((await api.succeeded(followed.id)).result).toBe('followed')
  })
})

test('every replay path is 403, whatever the run and the body; other actions work; after the resume all do', async () => {
  const [name, waiter] = [unique('workflow'), unique('waiter')]
  await engine.runner({
    workflows: { [name]: flow([run('a')]), [waiter]: flow([wait('w', unique('never'))]) },
  })
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
  const waiting = await api.send({ name: waiter })
  await waitsFor(api, waiting.runId, 'event')
  const forks = [
    () => api.post(`/runs/${runId}/replay`),
    () => api.post(`/runs/${runId}/retry-from-step`, { step: 'a' }),
    () => api.post('/runs/bulk-replay', { workflow: name }),
  ]
  const unusable = [
    () => api.post('/runs/run_none/replay', 7),
    () => api.post(`/runs/${runId}/retry-from-step`, {}),
    () => api.post('/runs/bulk-replay', {}),
    () => api.postText('/runs/bulk-replay', '{'),
  ]
  await whileSuspended(async () => {
    for (const fork of [...forks, ...unusable])
      expect(await fork()).toMatchObject({ status: 403, code: 'namespace_suspended' })
    for (const action of ['pause', 'resume', 'cancel'])
      expect((await api.post(`/runs/${waiting.runId}/${action}`)).status, action).toBe(200)
    expect(await api.runs(`?replayOf=${runId}`)).toEqual([])
  })
  for (const fork of forks) expect((await fork()).status).toBe(200)
  for (const fork of unusable) expect((await fork()).status).toBe(400)
})
