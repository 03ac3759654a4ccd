// Steps that start runs and continue, and steps that cancel runs (docs/steps.md#starting-runs).

import type { RunExplanation, RunSummary, StartedRun, StepRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  cut,
  flow,
  type Handler,
  overHttp,
  returned,
  run,
  scenario,
  step,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

interface Started {
  runId: string
  existing: boolean
}

/** Starts a run by a step of another run; returns the ids of both, and the step once it has settled. */
async function startFrom(fields: Record<string, unknown>, { name = unique('starter'), key = {} } = {}) {
  await engine.runner({ workflows: { [name]: flow([step('StartRun', 'go', fields)]) } })
  const { runId: starter } = await api.send({ name, ...key })
  const settled = await until(async () => {
    const found = await api.step(starter, 'go')
    return found.status !== 'waiting' && found
  })
  return { starter, step: settled, started: settled.data as Started }
}

/** A workflow whose runs wait for an event. */
async function held(registration: Record<string, unknown> = {}) {
  const [name, go] = [unique('held'), unique('go')]
  const runner = await engine.runner({
    workflows: { [name]: { handler: flow([wait('hold', go)]), registration } },
  })
  return { name, app: runner.app, go: () => api.post('/events', { name: go }) }
}

const listed = async (query: string) => (await api.get(`/runs?${query}`)).json as RunSummary[]
const why = async (runId: string) => (await api.get(`/runs/${runId}/why`)).json as RunExplanation

test('the starter goes on at once, and the run outlives it', async () => {
  const { name, app, go } = await held()
  const attributes = { customer: 'c-1' }
  const { starter, step: record, started } = await startFrom({ workflow: name, app, data: { n: 1 }, attributes })
  expect(record).toMatchObject({ status: 'succeeded', startedRunId: started.runId })
  expect(started).toEqual({ runId: expect.stringMatching(/^run_/), existing: false })
  await api.succeeded(starter)
  const found = await api.run(started.runId)
  const startedBy = { runId: starter, stepName: 'go' }
  expect(found).toMatchObject({ startedBy, input: { n: 1 }, attributes, triggerKind: 'event', generation: 1 })
  expect(found).not.toHaveProperty('parentRunId')
  expect(await why(starter)).toMatchObject({ started: [{ stepName: 'go', runId: started.runId, status: 'waiting' }] })
  expect(await why(started.runId)).toMatchObject({ startedBy })
  await go()
  await api.succeeded(started.runId)
})

test('the cancel of the starter leaves the run alone', async () => {
  const [{ name }, starterName] = [await held(), unique('starter')]
  await engine.runner({
    workflows: { [starterName]: flow([step('StartRun', 'go', { workflow: name }), wait('rest', 'nothing')]) },
  })
  const { runId } = await api.send({ name: starterName })
  await waitsFor(api, runId, 'event')
  const { startedRunId = '' } = await api.step(runId, 'go')
  await api.post(`/runs/${runId}/cancel`)
  expect(await api.reaches(startedRunId, 'waiting')).toMatchObject({ startedBy: { runId } })
})

overHttp('an answer that breaks off')('a pass whose answer is lost and repeated starts one run', async () => {
  const [{ name }, starterName] = [await held(), unique('starter')]
  const starts = flow([run('before'), step('StartRun', 'go', { workflow: name })])
  let passes = 0
  const handler: Handler = (...call) => (++passes === 2 ? cut : starts(...call))
  await engine.runner({ workflows: { [starterName]: handler } })
  const { runId } = await api.send({ name: starterName })
  await until(async () => {
    clock.jump(1000)
    return (await api.run(runId)).status === 'succeeded'
  })
  expect(passes).toBeGreaterThan(2)
  expect((await listed(`workflow=${name}`)).map(({ startedBy }) => startedBy?.runId)).toEqual([runId])
})

describe('a key', () => {
  test('use: the step has the live run', async () => {
    const { name } = await held()
    const first = await startFrom({ workflow: name, key: 'a' })
    const second = await startFrom({ workflow: name, key: 'a', ifRunning: 'use' })
    expect(second.started).toEqual({ runId: first.started.runId, existing: true })
    expect(second.step).toMatchObject({ startedRunId: first.started.runId })
    expect(await listed(`workflow=${name}`)).toMatchObject([{ startedBy: { runId: first.starter }, key: 'a' }])
  })

  test('refuse: the step fails, catchable, with already_running', async () => {
    const { name } = await held()
    const { started } = await startFrom({ workflow: name, key: 'a' })
    const { starter, step: record } = await startFrom({ workflow: name, key: 'a', ifRunning: 'refuse' })
    const message = expect.stringContaining(`Run ${started.runId} of workflow "${name}"`)
    expect(record).toMatchObject({
      status: 'failed',
      error: { name: 'AlreadyRunningError', code: 'already_running', message },
    })
    await api.succeeded(starter)
  })

  test('cancel: the live run is cancelled in the same commit; two steps of one pass count as one after the other', async () => {
    const [{ name }, starterName] = [await held(), unique('starter')]
    const first = await startFrom({ workflow: name, key: 'a' })
    const starts = ['one', 'two'].map(each => step('StartRun', each, { workflow: name, key: 'a', ifRunning: 'cancel' }))
    await engine.runner({ workflows: { [starterName]: flow([starts]) } })
    const { runId } = await api.send({ name: starterName })
    await api.succeeded(runId)
    const statuses = async () => (await listed(`workflow=${name}`)).map(({ status }) => status)
    await until(async () => (await statuses()).filter(status => status === 'cancelled').length === 2)
    expect(await statuses()).toHaveLength(3)
    expect(await api.run(first.started.runId)).toMatchObject({ status: 'cancelled' })
    const two = (await api.step(runId, 'two')).startedRunId as string
    expect((await api.run(two)).status).not.toBe('cancelled')
  })

  test('a run that starts its own workflow with its own key and cancel ends with that very pass', async () => {
    const [name, go] = [unique('again'), unique('go')]
    const handler = flow([
      wait('hold', go),
      step('StartRun', 'again', { workflow: name, key: 'a', ifRunning: 'cancel' }),
    ])
    const { app } = await engine.runner({ workflows: { [name]: handler } })
    const { id } = (await api.post(`/workflows/${app}/${name}/runs`, { key: 'a' })).json as StartedRun
    await waitsFor(api, id, 'event')
    await api.post('/events', { name: go })
    await api.reaches(id, 'cancelled')
    const [next] = await listed(`workflow=${name}&status=waiting,running,queued`)
    expect(next).toMatchObject({ key: 'a', startedBy: { runId: id } })
  })

  test('a start that the singleton refuses cancels nothing', async () => {
    const { name, app } = await held({ singleton: { mode: 'skip', key: 'event.data.s' } })
    const [a, b] = [{ s: 'a' }, { s: 'b' }]
    const live = await startFrom({ workflow: name, data: a })
    const keyed = (await api.post(`/workflows/${app}/${name}/runs`, { key: 'k', input: b })).json as StartedRun
    const { step: record } = await startFrom({ workflow: name, data: a, key: 'k', ifRunning: 'cancel' })
    expect(record.error).toMatchObject({
      code: 'already_running',
      message: expect.stringContaining(live.started.runId),
    })
    expect((await api.run(keyed.id)).status).toBe('waiting')
  })
})

describe('a workflow that nobody has registered', () => {
  test('is waited for, and the run starts when it is there', async () => {
    const [name, starterName] = [unique('late'), unique('starter')]
    await engine.runner({ workflows: { [starterName]: flow([step('StartRun', 'go', { workflow: name, data: 7 })]) } })
    const { runId } = await api.send({ name: starterName })
    expect(await waitsFor(api, runId, 'runner')).toMatchObject({ waitingFor: { kind: 'runner', stepName: 'go' } })
    await engine.runner({ workflows: { [name]: () => returned() } })
    await api.succeeded(runId)
    const { startedRunId = '', data } = await api.step(runId, 'go')
    expect(data).toEqual({ runId: startedRunId, existing: false })
    expect(await api.succeeded(startedRunId)).toMatchObject({ input: 7, startedBy: { runId, stepName: 'go' } })
  })

  test('fails the step after the grace, with the nearest names', async () => {
    const starterName = unique('starter')
    const { name } = await held()
    await engine.runner({ workflows: { [starterName]: flow([step('StartRun', 'go', { workflow: `${name}x` })]) } })
    const { runId } = await api.send({ name: starterName })
    await waitsFor(api, runId, 'runner')
    clock.jump(600_000)
    await api.succeeded(runId)
    expect((await api.step(runId, 'go')).error).toMatchObject({
      name: 'RunNotStartedError',
      message: expect.stringContaining(`Did you mean "${name}"`),
    })
  })
})

describe('a delay', () => {
  test('holds the run, which has its key meanwhile; neither a pause nor a resume starts it early', async () => {
    const { name } = await held({ timeouts: { queue: '1m' } })
    const { started } = await startFrom({ workflow: name, key: 'a', delayMs: 3_600_000 })
    const until = new Date(clock.now() + 3_600_000).toISOString()
    expect(await api.run(started.runId)).toMatchObject({ status: 'queued', waitingFor: { kind: 'sleep', until } })
    expect((await why(started.runId)).sentence).toContain(`starts at ${until}`)
    expect((await startFrom({ workflow: name, key: 'a' })).started).toEqual({ runId: started.runId, existing: true })
    await api.post(`/runs/${started.runId}/pause`)
    await api.post(`/runs/${started.runId}/resume`)
    await waitsFor(api, started.runId, 'sleep')
    clock.jump(3_599_000)
    expect(await api.run(started.runId)).not.toHaveProperty('startedAt')
    clock.jump(1000)
    await waitsFor(api, started.runId, 'event')
  })

  test('as a time; one that is over starts the run at once', async () => {
    const { name } = await held()
    const { started } = await startFrom({ workflow: name, atMs: clock.now() + 60_000 })
    const past = await startFrom({ workflow: name, atMs: 1 })
    await waitsFor(api, past.started.runId, 'event')
    expect(await api.run(started.runId)).toMatchObject({ status: 'queued' })
    clock.jump(60_000)
    await waitsFor(api, started.runId, 'event')
  })
})

describe('cancelRun', () => {
  const cancelFrom = async (runId: string): Promise<StepRecord> => {
    const name = unique('canceller')
    await engine.runner({ workflows: { [name]: flow([step('CancelRun', 'stop', { runId })]) } })
    const { runId: canceller } = await api.send({ name })
    await api.succeeded(canceller)
    return api.step(canceller, 'stop')
  }

  test('cancels a run; one that has ended is no error', async () => {
    const { name, app } = await held()
    const { id } = (await api.post(`/workflows/${app}/${name}/runs`, { runId: `run_${unique('given-by-us')}` }))
      .json as StartedRun
    for (const _ of ['live', 'ended']) {
      expect(await cancelFrom(id)).toMatchObject({ status: 'succeeded', data: null })
      await api.reaches(id, 'cancelled')
    }
  })

  test('cancels the newest run of a chain', async () => {
    const [name, go] = [unique('chain'), unique('go')]
    const handler: Handler = (invoke, ...more) =>
      invoke.event.data === 'last'
        ? flow([wait('hold', go)])(invoke, ...more)
        : { status: 200, body: { continueAs: { data: 'last' }, logs: [] } }
    const runner = await engine.runner({ workflows: { [name]: handler } })
    await runner.register(api, { features: ['continue-as'] })
    const { runId } = await api.send({ name })
    const last = await until(async () => (await api.run(runId)).continuedAs)
    await cancelFrom(runId)
    await api.reaches(last, 'cancelled')
  })

  test('of an unknown run fails the step, catchable', async () => {
    expect(await cancelFrom('run_01ARZ3NDEKTSV4RRFFQ69G5FAV')).toMatchObject({
      status: 'failed',
      error: { name: 'RunNotFoundError', code: 'not_found' },
    })
  })

  test('of its own run ends the run', async () => {
    const name = unique('self')
    const own = step('CancelRun', 'stop', ({ ctx }) => ({ runId: ctx.runId }))
    await engine.runner({ workflows: { [name]: flow([own, run('never')]) } })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'cancelled')
    expect((await api.steps(runId)).map(step => step.name)).toEqual(['stop'])
  })
})
