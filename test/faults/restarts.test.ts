// Runners and engines that go away in the middle of a run and come back: committed steps stay, uncommitted ones are repeated, and
// the run spends no attempt (docs/promises.md#runs, docs/state-machine.md#leases).

import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  JumpClock,
  openEngine,
  RunnerRecord,
  run,
  skipWait,
  sleep,
  startEngine,
  unique,
  until,
  wait,
  waitsFor,
} from '../kit/index.ts'

describe('a runner restarts', () => {
  const clock = new JumpClock()

  test('in the middle of a step: the pass is repeated by its successor, settled steps are not', async () => {
    const engine = await openEngine({ clock })
    const [app, name, id, record] = [unique('app'), unique('work'), unique('runner'), new RunnerRecord()]
    let hanging = true
    const workflows = {
      [name]: flow([run('first'), run('second', () => (hanging ? gate().opened : 'done')), run('third')]),
    }
    const before = await engine.runner({ app, runner: id, record, workflows })
    const { runId } = await engine.api.send({ name, runner: id })
    await until(() => record.times(runId, 'second') === 1)
    await before.close()
    hanging = false
    // The successor has a different address but the same id. The pin follows the id.
    await engine.runner({ app, runner: id, record, workflows })
    await skipWait(engine.api, clock, runId, 'retry')
    expect(await engine.api.succeeded(runId)).toMatchObject({ attempt: 2 })
    expect(record.names(runId)).toEqual(['first', 'second', 'second', 'third'])
    expect((await engine.api.get(`/runners?app=${app}`)).json).toHaveLength(1)
  })

  test('between two passes: kept-alive connections that have died cost nothing', async () => {
    const engine = await openEngine({ clock })
    const name = unique('work')
    const runner = await engine.runner({
      workflows: { [name]: flow([run('first'), sleep('nap', 1000), run('last')]) },
    })
    for (let i = 0; i < 5; i++) {
      const { runId } = await engine.api.send({ name })
      await waitsFor(engine.api, runId, 'sleep')
      await runner.close()
      await runner.listen()
      clock.jump(1000)
      // Whether the connection was refused or broke, the run continues by itself.
      await until(async () => {
        clock.jump(100)
        return (await engine.api.run(runId)).status === 'succeeded'
      })
      expect(runner.record.times(runId, 'last')).toBe(1)
    }
  })
})

describe('an engine dies by kill -9', () => {
  test('a pass in flight is repeated at once, and everything acknowledged is there: waits, timers, pauses, dedupe ids, registrations', async () => {
    const engine = await startEngine()
    const { api } = engine
    const [work, waiter, sleeper, quick] = [unique('work'), unique('waiter'), unique('sleeper'), unique('quick')]
    const [event, dedupeId] = [unique('event'), unique('d')]
    let hanging = true
    const { record } = await engine.runner({
      workflows: {
        [work]: flow([run('first'), run('second', () => (hanging ? gate().opened : 'done'))]),
        [waiter]: flow([wait('w', event)]),
        [sleeper]: flow([sleep('s', 700)]),
        [quick]: flow([run('a')]),
      },
    })
    const working = await api.send({ name: work })
    const waiting = await api.send({ name: waiter })
    const paused = await api.send({ name: waiter })
    const sleeping = await api.send({ name: sleeper })
    for (const { runId } of [waiting, paused]) await api.reaches(runId, 'waiting')
    await api.post(`/runs/${paused.runId}/pause`)
    await until(() => record.times(working.runId, 'second') === 1)
    const last = await api.send({ name: quick, dedupeId, data: 'last words' })
    await engine.kill9()
    hanging = false
    await engine.start()

    // Well before the lease of 15 s would have expired, without another attempt.
    expect(await api.reaches(working.runId, 'succeeded', 10_000)).toMatchObject({ attempt: 1 })
    expect(record.names(working.runId)).toEqual(['first', 'second', 'second'])
    const { messages } = await api.stream(working.runId)
    const seqs = messages.map(({ data }) => data.seq as number)
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
    expect(messages.at(-1)?.data).toMatchObject({ status: 'succeeded' })
    await api.succeeded(last.runId)
    expect(await api.event(last.eventId)).toMatchObject({ data: 'last words', triggered: last.triggered })
    expect((await api.post('/events', { name: quick, dedupeId })).json).toEqual({ deduped: true })
    await api.succeeded(sleeping.runId)
    expect((await api.run(paused.runId)).status).toBe('paused')
    expect((await api.send({ name: event })).woke).toBe(2)
    await api.succeeded(waiting.runId)
    expect((await api.run(paused.runId)).status).toBe('paused')
    // No runner has registered again.
    await api.succeeded((await api.send({ name: quick })).runId)
  })
})
