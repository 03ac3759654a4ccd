// Several opcodes in one 206 (docs/wire-protocol.md#opcodes).

import { describe, expect, test } from 'vitest'
import {
  child,
  discovered,
  emit,
  flow,
  gate,
  opcode,
  returned,
  run,
  StepFailure,
  scenario,
  sleep,
  stepId,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, barrier, clock, engine, workflow } = await scenario()

describe('one 206 with several opcodes', () => {
  test('all are persisted, in the order of the report', async () => {
    const [name, event] = [unique('fan'), unique('go')]
    const stage = [run('a'), sleep('b', 1000), wait('c', event), emit('d', unique('said')), run('e')]
    const { record } = await engine.runner({ workflows: { [name]: flow([stage]) } })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'sleep')
    const steps = await api.steps(runId)
    expect(steps.map(({ name, index, status }) => [name, index, status])).toEqual([
      ['a', 0, 'succeeded'],
      ['b', 1, 'waiting'],
      ['c', 2, 'waiting'],
      ['d', 3, 'succeeded'],
      ['e', 4, 'succeeded'],
    ])
    expect(record.of(runId)[1]?.steps).toMatchObject({
      [stepId('a')]: { data: 'a' },
      [stepId('b')]: { pending: true },
      [stepId('c')]: { pending: true },
      [stepId('e')]: { data: 'e' },
    })
  })

  test('the run parks at the earliest deadline and is re-invoked as each branch is ready', async () => {
    const name = unique('fan')
    const stage = [sleep('slow', 60_000), sleep('quick', 5000), sleep('middle', 20_000)]
    const { record } = await engine.runner({ workflows: { [name]: flow([stage]) } })
    const { runId } = await api.send({ name })
    const start = clock.now()
    for (const [step, ms] of [
      ['quick', 5000],
      ['middle', 20_000],
      ['slow', 60_000],
    ] as const) {
      const parked = await until(async () => {
        const run = await api.run(runId)
        return run.waitingFor?.stepName === step && run
      })
      expect(Date.parse(parked.waitingFor?.until as string) - start).toBe(ms)
      clock.jumpTo(start + ms)
    }
    await api.succeeded(runId)
    expect(record.passes(runId)).toBe(4)
    const settled = record.of(runId).map(({ steps }) => Object.values(steps).filter(({ pending }) => !pending).length)
    expect(settled).toEqual([0, 1, 2, 3])
  })

  test('a pending branch is neither run again nor emitted again while its siblings go on', async () => {
    const [name, kid, event] = [unique('fan'), unique('kid'), unique('go')]
    const { record } = await engine.runner({
      workflows: {
        [name]: flow([[child('kid', kid), wait('w', event), sleep('s', 1000)]]),
        [kid]: flow([wait('k', event)]),
      },
    })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'sleep')
    clock.jump(1000)
    await waitsFor(api, runId, 'event')
    await until(async () => (await api.run((await api.step(runId, 'kid')).childRunId as string)).status === 'waiting')
    expect((await api.send({ name: event })).woke).toBe(2)
    await api.succeeded(runId)
    expect(record.names(runId)).toEqual(['kid', 'w', 's'])
    expect((await api.runs(`?status=succeeded`)).filter(({ parentRunId }) => parentRunId === runId)).toHaveLength(1)
  })

  test('the same id twice in one 206 is one step: the first counts', async () => {
    const { name } = await workflow(({ pass }) =>
      pass > 1
        ? returned()
        : discovered([opcode('StepRun', 'a', { data: 'first' }), opcode('StepRun', 'a', { data: 'second' })]),
    )
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    expect(await api.steps(runId)).toMatchObject([{ name: 'a', data: 'first' }])
  })
})

describe('failures among siblings', () => {
  const broken = (options: { catchable?: boolean } = {}) =>
    run(
      'broken',
      () => {
        throw new StepFailure('no', { retriable: false })
      },
      options,
    )

  test('a terminal failure in one branch fails the run and cancels in-flight siblings', async () => {
    const [name, kid] = [unique('fan'), unique('kid')]
    const never = unique('never')
    const stage = [sleep('s', 60_000), wait('w', never), child('kid', kid), run('done'), broken()]
    await engine.runner({ workflows: { [name]: flow([stage]), [kid]: flow([wait('k', never)]) } })
    const { runId } = await api.send({ name })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', stepName: 'broken' })
    const statuses = Object.fromEntries((await api.steps(runId)).map(({ name, status }) => [name, status]))
    expect(statuses).toEqual({
      s: 'cancelled',
      w: 'cancelled',
      kid: 'cancelled',
      done: 'succeeded',
      broken: 'failed',
    })
    await api.reaches((await api.step(runId, 'kid')).childRunId as string, 'cancelled')
    expect((await api.send({ name: never })).woke).toBe(0)
  })

  test('a sibling in its backoff is cancelled too', async () => {
    const [name, lift] = [unique('fan'), unique('lift')]
    const shaky = run('shaky', () => {
      throw new StepFailure('again')
    })
    await engine.runner({
      workflows: {
        [name]: async (invoke, record) => {
          const started = await flow([[shaky, wait('lift', lift)]])(invoke, record)
          return invoke.pass === 1 ? started : flow([[broken()]])(invoke, record)
        },
      },
    })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'retry')
    await api.send({ name: lift })
    await api.failed(runId)
    expect(await api.step(runId, 'shaky')).toMatchObject({ status: 'cancelled' })
  })

  test('a catchable failure leaves the siblings alone', async () => {
    const { name } = await workflow(flow([[sleep('s', 5000), broken({ catchable: true })]]))
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'sleep')
    clock.jump(5000)
    expect((await api.succeeded(runId)).result).toMatchObject({ broken: { error: { message: 'no' } } })
  })

  test('a branch that retries does not hold up one that is ready', async () => {
    const [name, event] = [unique('fan'), unique('go')]
    let tries = 0
    const shaky = run('shaky', () => {
      if (++tries === 1) throw new StepFailure('once', { retryAfterMs: 3_600_000 })
      return 'in the end'
    })
    const { record } = await engine.runner({
      workflows: { [name]: flow([[shaky, wait('w', event)], run('after')]) },
    })
    const { runId } = await api.send({ name })
    await waitsFor(api, runId, 'retry')
    await api.send({ name: event })
    await until(() => record.passes(runId) === 2)
    await barrier()
    expect(record.times(runId, 'shaky')).toBe(1)
    clock.jump(3_600_000)
    await api.succeeded(runId)
    expect(record.times(runId, 'shaky')).toBe(2)
  })
})

test("events that arrive while a pass is in flight reach the run's next pass", async () => {
  const [name, event, held] = [unique('busy'), unique('go'), gate()]
  const { record } = await engine.runner({
    workflows: {
      [name]: flow([[wait('w', event), sleep('s', 0)], run('slow', () => held.opened), wait('never', unique('never'))]),
    },
  })
  const { runId } = await api.send({ name })
  await until(async () => (await api.step(runId, 'w')).status === 'waiting')
  await api.send({ name: event })
  await until(() => record.times(runId, 'slow') === 1)
  held.open()
  await waitsFor(api, runId, 'event')
  expect(record.of(runId).at(-1)?.steps[stepId('w')]).toHaveProperty('data')
})
