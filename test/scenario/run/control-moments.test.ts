// Every control action at every moment of a run: while a pass is in flight, while a step is parked, while a child
// runs, after the end (docs/concepts.md#pause-resume-cancel).

import type { RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  child,
  flow,
  gate,
  type RunnerRecord,
  returned,
  run,
  type Step,
  StepFailure,
  scenario,
  sleep,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, barrier, clock, engine, workflow, start } = await scenario()

/** Longer than a backoff, and shorter than a lease: passes in flight are not lost by the jump. */
const JUMP_MS = 10_000

const act = (runId: string, action: string, body?: unknown) => api.post(`/runs/${runId}/${action}`, body)
const fork = async (runId: string, action: string, body?: unknown) => {
  const answer = await act(runId, action, body)
  expect(answer.status, answer.text).toBe(200)
  return (answer.json as RunSummary).id
}
const audited = async (runId: string) =>
  ((await api.get(`/control-actions?runId=${runId}`)).json as { action: string }[]).map(({ action }) => action)

/** Everything that can be read of a run. */
const everything = async (runId: string) =>
  Promise.all(['', '/steps', '/logs'].map(async part => (await api.get(`/runs/${runId}${part}`)).text))

interface Arrived {
  runId: string
  record: RunnerRecord
  /** Triggers what the run waits for. */
  goOn(): Promise<unknown>
}

/** Starts a run of `first`, `middle` and `last`, and waits until it is in the middle. */
async function startWith(middle: Step, extra: Record<string, ReturnType<typeof flow>> = {}) {
  const stages = flow([run('first'), middle, run('last')])
  return start(stages, { others: extra })
}

const MOMENTS: Record<string, () => Promise<Arrived>> = {
  async 'a pass in flight'() {
    const held = gate()
    const started = await startWith(run('middle', () => held.opened))
    await until(() => started.record.times(started.runId, 'middle') === 1)
    return { ...started, goOn: async () => held.open() }
  },
  async 'a sleep'() {
    const started = await startWith(sleep('middle', JUMP_MS))
    await waitsFor(api, started.runId, 'sleep')
    return { ...started, goOn: async () => clock.jump(JUMP_MS) }
  },
  async 'a wait'() {
    const event = unique('go')
    const started = await startWith(wait('middle', event))
    await waitsFor(api, started.runId, 'event')
    return { ...started, goOn: () => api.send({ name: event }) }
  },
  async 'a backoff'() {
    let tries = 0
    const started = await startWith(
      run('middle', () => {
        if (++tries === 1) throw new StepFailure('again')
      }),
    )
    await waitsFor(api, started.runId, 'retry')
    return { ...started, goOn: async () => clock.jump(JUMP_MS) }
  },
  async 'a child'() {
    const [kid, event] = [unique('kid'), unique('go')]
    const started = await startWith(child('middle', kid), { [kid]: flow([wait('w', event)]) })
    await waitsFor(api, started.runId, 'child')
    const { childRunId } = await api.step(started.runId, 'middle')
    await api.reaches(childRunId as string, 'waiting')
    return { ...started, goOn: () => api.send({ name: event }) }
  },
}

const UNFINISHED: [string, unknown, string][] = [
  ['replay', undefined, 'run_not_finished'],
  ['retry-from-step', { step: 'first' }, 'run_not_finished'],
  // "The run is not finished" takes precedence over "the step does not exist".
  ['retry-from-step', { step: 'unknown' }, 'run_not_finished'],
]

async function refused(runId: string, refusals: readonly [string, unknown, string][]): Promise<void> {
  const [before, entries] = [await everything(runId), await audited(runId)]
  for (const [action, body, code] of refusals) {
    expect(await act(runId, action, body), action).toMatchObject({ status: 409, code })
  }
  expect(await everything(runId)).toEqual(before)
  expect(await audited(runId)).toEqual(entries)
}

describe.each(Object.keys(MOMENTS))('during %s', moment => {
  const arrive = () => (MOMENTS[moment] as () => Promise<Arrived>)()
  const isStepRun = moment === 'a pass in flight' || moment === 'a backoff'
  /** Steps that the runner executes in one complete run, without the failed attempt of the backoff. */
  const executed = moment === 'a backoff' ? ['first', 'middle', 'middle', 'last'] : ['first', 'middle', 'last']

  test('paused and resumed, the run goes on as without the pause; refusals change and record nothing', async () => {
    const { runId, record, goOn } = await arrive()
    await refused(runId, [['resume', undefined, 'run_not_paused'], ...UNFINISHED])
    expect((await act(runId, 'pause')).json).toMatchObject({ status: 'paused' })
    await refused(runId, UNFINISHED)
    expect((await act(runId, 'resume')).json).toMatchObject({ status: 'queued' })
    await goOn()
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(executed)
    expect((await api.steps(runId)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(await audited(runId)).toEqual(['resume', 'pause'])
  })

  test('the awaited event may come while it is paused: it stays paused until the resume', async () => {
    const { runId, record, goOn } = await arrive()
    expect((await act(runId, 'pause')).json).not.toHaveProperty('waitingFor')
    const passes = record.passes(runId)
    await goOn()
    if (moment !== 'a backoff') {
      await until(async () => (await api.step(runId, 'middle')).status === 'succeeded')
    }
    await barrier()
    expect((await api.run(runId)).status).toBe('paused')
    expect(record.passes(runId)).toBe(passes)
    await act(runId, 'resume')
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(executed)
  })

  test.each(['running or waiting', 'paused'])('cancelled while %s, it ends for good', async how => {
    const { runId, record, goOn } = await arrive()
    if (how === 'paused') await act(runId, 'pause')
    expect((await act(runId, 'cancel')).json).toMatchObject({ status: 'cancelled' })
    const passes = record.passes(runId)
    await goOn()
    await barrier()
    const cancelled = await api.run(runId)
    expect(cancelled.status).toBe('cancelled')
    expect(cancelled).not.toHaveProperty('waitingFor')
    expect(record.passes(runId)).toBe(passes)
    const steps = (await api.steps(runId)).map(({ name, status }) => `${name} ${status}`)
    // The result of a pass in flight is not known yet.
    expect(steps).toEqual(moment === 'a pass in flight' ? ['first succeeded'] : ['first succeeded', 'middle cancelled'])
    await refused(runId, [
      ['cancel', undefined, 'run_terminal'],
      ['pause', undefined, 'run_terminal'],
      ['resume', undefined, 'run_not_paused'],
    ])
  })

  test('cancelled, it can be retried from that step: carried steps are not executed again', async () => {
    const { runId, record, goOn } = await arrive()
    await act(runId, 'cancel')
    if (moment === 'a pass in flight') {
      expect(await act(runId, 'retry-from-step', { step: 'middle' })).toMatchObject({
        status: 404,
        code: 'step_not_found',
      })
      await goOn()
      return
    }
    const id = await fork(runId, 'retry-from-step', { step: 'middle' })
    if (isStepRun) await api.succeeded(id)
    else {
      await api.reaches(id, 'waiting')
      await goOn()
      await api.succeeded(id)
    }
    expect(record.names(id)).toEqual(['middle', 'last'])
    expect((await api.steps(id)).map(({ name, carried = false }) => [name, carried])).toEqual([
      ['first', true],
      ['middle', false],
      ['last', false],
    ])
    expect(await api.run(id)).toMatchObject({ replayOf: runId })
  })

  test('finished, a retry from the last step carries the middle one', async () => {
    const { runId, record, goOn } = await arrive()
    await goOn()
    const { result } = await api.succeeded(runId)
    const middle = await api.step(runId, 'middle')
    const runs = (await api.runs('?limit=200')).length
    const id = await fork(runId, 'retry-from-step', { step: 'last' })
    expect((await api.succeeded(id)).result).toEqual(result)
    expect(record.names(id)).toEqual(['last'])
    // Its runner and pass belong to the source's history, which the fork does not have.
    const { id: _, runner: __, pass: ___, ...copied } = middle
    expect(await api.step(id, 'middle')).toMatchObject({ ...copied, carried: true })
    // No second child was started either.
    expect((await api.runs('?limit=200')).length).toBe(Math.min(runs + 1, 200))
  })
})

describe('parents and children', () => {
  /** Three generations. The youngest is in a pass that the test holds. */
  async function family() {
    const [top, middle, bottom] = [unique('top'), unique('middle'), unique('bottom')]
    const held = gate()
    const { record } = await engine.runner({
      workflows: {
        [top]: flow([child('kid', middle), run('after')]),
        [middle]: flow([child('kid', bottom)]),
        [bottom]: flow([run('work', () => held.opened)]),
      },
    })
    const { runId } = await api.send({ name: top })
    const childOf = (id: string) =>
      until(async () => (await api.steps(id)).find(step => step.name === 'kid')?.childRunId)
    const childId = await childOf(runId)
    const grandchildId = await childOf(childId)
    await until(() => record.times(grandchildId, 'work') === 1)
    return { runId, childId, grandchildId, record, held }
  }

  test('a cancel reaches children and grandchildren, and aborts what they have in flight', async () => {
    const { runId, childId, grandchildId, record } = await family()
    const signal = record.of(grandchildId)[0]?.signal as AbortSignal
    await act(runId, 'cancel')
    await api.reaches(childId, 'cancelled')
    await api.reaches(grandchildId, 'cancelled')
    await until(() => signal.aborted)
    expect(await api.step(childId, 'kid')).toMatchObject({ status: 'cancelled' })
    // The audit log has only the run named in the request.
    expect(await audited(runId)).toEqual(['cancel'])
    expect(await audited(childId)).toEqual([])
  })

  test('a cancel reaches a paused child', async () => {
    const { runId, childId, grandchildId } = await family()
    await act(childId, 'pause')
    await act(runId, 'cancel')
    await api.reaches(childId, 'cancelled')
    await api.reaches(grandchildId, 'cancelled')
  })

  test('a pause does not: children go on, and their result is there at the resume', async () => {
    const { runId, childId, grandchildId, record, held } = await family()
    await act(runId, 'pause')
    expect(await api.run(childId)).toMatchObject({ status: 'waiting' })
    held.open()
    await api.succeeded(grandchildId)
    await api.succeeded(childId)
    await barrier()
    expect(await api.step(runId, 'kid')).toMatchObject({ status: 'succeeded' })
    expect(await api.run(runId)).toMatchObject({ status: 'paused' })
    await act(runId, 'resume')
    await api.succeeded(runId)
    expect(record.names(grandchildId)).toEqual(['work'])
    expect(record.names(runId)).toEqual(['kid', 'after'])
  })

  test('a child that is cancelled alone is an error in its parent, which may go on', async () => {
    const { runId, childId, grandchildId } = await family()
    await act(childId, 'cancel')
    await api.reaches(grandchildId, 'cancelled')
    expect((await api.succeeded(runId)).result).toMatchObject({
      kid: { error: { message: `Child run ${childId} was cancelled.` } },
      after: 'after',
    })
  })

  test('the fork of a child has no parent: its end answers none', async () => {
    const { runId, childId, held } = await family()
    held.open()
    await api.succeeded(runId)
    const before = await everything(runId)
    const copy = await api.succeeded(await fork(childId, 'replay'))
    expect(copy).toMatchObject({ replayOf: childId })
    expect(copy).not.toHaveProperty('parentRunId')
    expect(await everything(runId)).toEqual(before)
  })
})

describe.each(['succeeded', 'failed', 'cancelled'] as const)('a run that is %s', status => {
  async function finished(): Promise<string> {
    const name = unique('finished')
    const ends = { succeeded: run('b'), cancelled: wait('b', unique('never')), failed: run('b', fail) }
    await engine.runner({ workflows: { [name]: flow([run('a'), ends[status]], () => 1) } })
    const { runId } = await api.send({ name })
    if (status === 'cancelled') {
      await waitsFor(api, runId, 'event')
      await act(runId, 'cancel')
    }
    await api.reaches(runId, status)
    return runId
  }

  const fail = () => {
    throw new StepFailure('for good', { retriable: false })
  }

  test('it can be replayed and retried any number of times, neither paused, resumed nor cancelled, and stays as it was', async () => {
    const runId = await finished()
    await refused(runId, [
      ['cancel', undefined, 'run_terminal'],
      ['pause', undefined, 'run_terminal'],
      ['resume', undefined, 'run_not_paused'],
    ])
    const before = await everything(runId)
    const ids = [
      await fork(runId, 'replay'),
      await fork(runId, 'retry-from-step', { step: 'b' }),
      await fork(runId, 'replay', { input: 1 }),
    ]
    for (const id of ids) {
      expect(await api.run(id)).toMatchObject({ replayOf: runId })
      if (status === 'cancelled') await waitsFor(api, id, 'event')
      else await api.reaches(id, status)
    }
    expect(new Set(ids).size).toBe(3)
    expect(await everything(runId)).toEqual(before)
  })
})

test('a run that waits for a runner is paused, resumed and cancelled like any other', async () => {
  const { name, runner } = await workflow(() => returned())
  await runner.close()
  const { runId } = await api.send({ name })
  await waitsFor(api, runId, 'runner')
  await refused(runId, [['resume', undefined, 'run_not_paused'], ...UNFINISHED])
  expect((await act(runId, 'pause')).json).toMatchObject({ status: 'paused' })
  expect((await act(runId, 'resume')).json).toMatchObject({ status: 'queued' })
  await waitsFor(api, runId, 'runner')
  expect((await act(runId, 'cancel')).json).toMatchObject({ status: 'cancelled' })
  // The first run found that no runner listens. The second is not even sent.
  const { runId: unsent } = await api.send({ name })
  await waitsFor(api, unsent, 'runner')
  clock.jump(100)
  const { json } = await act(unsent, 'cancel')
  expect(json).toMatchObject({ status: 'cancelled', durationMs: 0 })
  expect(json).not.toHaveProperty('startedAt')
})
