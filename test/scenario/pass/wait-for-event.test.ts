// WaitForEvent (docs/events.md#waits).

import { describe, expect, test } from 'vitest'
import {
  discovered,
  flow,
  opcode,
  returned,
  run,
  scenario,
  step,
  stepId,
  unique,
  until,
  wait,
  waitsFor,
} from '../../kit/index.ts'

const { api, barrier, clock, start, engine, workflow } = await scenario()

describe('woken by an event', () => {
  test('the result of the wait is the event {id, name, data, receivedAt}', async () => {
    const event = unique('paid')
    const { runId } = await start(flow([wait('payment', event, 60_000)]))
    const parked = await waitsFor(api, runId, 'event')
    const until = new Date(clock.now() + 60_000).toISOString()
    expect(parked.waitingFor).toEqual({ kind: 'event', stepName: 'payment', until, eventName: event })
    expect(await api.step(runId, 'payment')).toMatchObject({
      status: 'waiting',
      eventName: event,
      wakeAt: until,
    })
    const { eventId, woke } = await api.send({ name: event, data: { amount: 5 } })
    expect(woke).toBe(1)
    const receivedAt = new Date(clock.now()).toISOString()
    const payment = { id: eventId, name: event, data: { amount: 5 }, receivedAt }
    expect((await api.succeeded(runId)).result).toEqual({ payment })
    expect(await api.step(runId, 'payment')).toMatchObject({ status: 'succeeded', data: payment })
  })

  test('its data reaches the memo as it was sent, and absent data is absent', async () => {
    const event = unique('paid')
    const { runId, record } = await start(flow([wait('one', event), wait('two', event)]))
    await api.reaches(runId, 'waiting')
    await api.postText('/events', `{"name":"${event}","data":12345678901234567890}`)
    await api.send({ name: event })
    await api.succeeded(runId)
    const last = record.of(runId).at(-1)
    expect(last?.raw).toContain('"data":12345678901234567890')
    expect(last?.steps[stepId('two')]?.data).not.toHaveProperty('data')
  })

  test('one event wakes every run that waits for it, and woke counts them', async () => {
    const event = unique('go')
    const runs = await Promise.all([1, 2, 3].map(() => start(flow([wait('go', event)]))))
    for (const { runId } of runs) await api.reaches(runId, 'waiting')
    const { eventId, woke } = await api.send({ name: event })
    expect(woke).toBe(3)
    expect((await api.event(eventId)).woke).toBe(3)
    for (const { runId } of runs) await api.succeeded(runId)
    expect((await api.send({ name: event })).woke).toBe(0)
  })

  test('a wait with a filter takes the event that meets it, and no other', async () => {
    const event = unique('paid')
    const filtered = step('WaitForEvent', 'mine', {
      eventName: event,
      timeoutMs: 60_000,
      if: 'async.data.id == event.data.id',
    })
    const { name } = await workflow(flow([filtered]))
    const { runId } = await api.send({ name, data: { id: 1 } })
    await until(async () => (await api.steps(runId)).length === 1)
    await api.send({ name: event, data: { id: 2 } })
    await api.send({ name: event, data: 'no id at all' })
    await barrier()
    expect(await api.step(runId, 'mine')).toMatchObject({ status: 'waiting' })
    const { eventId, woke } = await api.send({ name: event, data: { id: 1 } })
    expect(woke).toBe(1)
    await api.succeeded(runId)
    expect((await api.step(runId, 'mine')).data).toMatchObject({ id: eventId, data: { id: 1 } })
  })

  test('app scopes triggers, not waiters: a scoped event still wakes', async () => {
    const event = unique('go')
    const { runId } = await start(flow([wait('go', event)]))
    await api.reaches(runId, 'waiting')
    expect((await api.send({ name: event, app: unique('elsewhere') })).woke).toBe(1)
    await api.succeeded(runId)
  })

  test('a duplicate dedupeId wakes no run', async () => {
    const [event, dedupeId] = [unique('go'), unique('d')]
    await api.send({ name: event, dedupeId })
    clock.jump(1)
    const { runId } = await start(flow([wait('go', event)]))
    await api.reaches(runId, 'waiting')
    expect((await api.post('/events', { name: event, dedupeId })).json).toEqual({ deduped: true })
    await barrier()
    expect((await api.run(runId)).status).toBe('waiting')
  })
})

describe('timing out', () => {
  test('puts data null, once, and the step says timedOut', async () => {
    const event = unique('late')
    const { runId, record } = await start(flow([wait('late', event, 5000), run('after')]))
    await waitsFor(api, runId, 'event')
    clock.jump(4999)
    await barrier()
    expect(record.passes(runId)).toBe(1)
    clock.jump(1)
    expect((await api.succeeded(runId)).result).toEqual({ late: null, after: 'after' })
    expect(record.of(runId)[1]?.steps[stepId('late')]).toEqual({ data: null })
    expect(await api.step(runId, 'late')).toMatchObject({ status: 'succeeded', timedOut: true })
  })

  test('an event after the timeout wakes no run; event and timeout have one outcome', async () => {
    const event = unique('late')
    const { runId } = await start(flow([wait('late', event, 5000), wait('next', unique('never'))]))
    await waitsFor(api, runId, 'event')
    clock.jump(5000)
    await api.reaches(runId, 'waiting')
    await barrier()
    expect((await api.send({ name: event })).woke).toBe(0)
    expect(await api.step(runId, 'late')).toMatchObject({ timedOut: true })
  })
})

describe('no gap before the wait', () => {
  test('an event that came since the run was created and before its wait is seen by it', async () => {
    const [name, event] = [unique('waiter'), unique('quick')]
    const early: string[] = []
    await engine.runner({
      workflows: {
        [name]: flow([
          run('slow', async () => void early.push((await api.send({ name: event, data: 'early' })).eventId)),
          wait('quick', event),
        ]),
      },
    })
    const { runId } = await api.send({ name })
    const { result } = await api.succeeded(runId)
    expect(result).toMatchObject({ quick: { id: early[0], data: 'early' } })
  })

  test('an event from before the run is not', async () => {
    const event = unique('before')
    await api.send({ name: event })
    clock.jump(1)
    const { runId } = await start(flow([wait('it', event)]))
    await api.reaches(runId, 'waiting')
    await barrier()
    expect((await api.run(runId)).status).toBe('waiting')
  })

  test("the run's own trigger does not satisfy its wait", async () => {
    const [name, event] = [unique('waiter'), unique('again')]
    const handler = flow([wait('again', event)])
    await engine.runner({ workflows: { [name]: { handler, registration: { triggers: [{ event }] } } } })
    const { runId } = await api.send({ name: event })
    await api.reaches(runId, 'waiting')
    await barrier()
    expect((await api.run(runId)).status).toBe('waiting')
  })

  test('each wait consumes one event, the oldest first', async () => {
    const [name, event] = [unique('waiter'), unique('tick')]
    const send = (data: number) => api.send({ name: event, data })
    const slow = run('slow', async () => {
      for (const data of [1, 2, 3]) await send(data)
    })
    await engine.runner({
      workflows: { [name]: flow([slow, wait('first', event), wait('second', event), wait('third', event)]) },
    })
    const { runId } = await api.send({ name })
    const { result } = await api.succeeded(runId)
    expect(result).toMatchObject({ first: { data: 1 }, second: { data: 2 }, third: { data: 3 } })
  })

  test('with several waits of one run, an event goes to each of them', async () => {
    const [name, event, lift] = [unique('waiter'), unique('tick'), unique('lift')]
    const waitFor = (name: string, eventName = event) => opcode('WaitForEvent', name, { eventName, timeoutMs: 1e9 })
    await engine.runner({
      workflows: {
        [name]: ({ pass, steps }) => {
          if (steps[stepId('old')]?.data && steps[stepId('young')]?.data) return returned()
          if (pass === 1) return discovered([waitFor('old'), waitFor('lift', lift)])
          return discovered(pass === 2 ? [waitFor('young')] : [])
        },
      },
    })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    clock.jump(10)
    await api.send({ name: lift })
    await barrier()
    expect((await api.send({ name: event, data: 1 })).woke).toBe(1)
    await api.succeeded(runId)
    expect(await api.step(runId, 'old')).toMatchObject({ data: { data: 1 } })
    expect(await api.step(runId, 'young')).toMatchObject({ data: { data: 1 } })
  })

  test('an earlier event of another name comes first, though its wait is asked for while the later one settles', async () => {
    const [name, a, b, lift] = [unique('waiter'), unique('a'), unique('b'), unique('lift')]
    const waitFor = (step: string, eventName: string) => opcode('WaitForEvent', step, { eventName })
    await engine.runner({
      workflows: {
        [name]: async ({ pass, steps }) => {
          if (pass === 1) return discovered([waitFor('later', a), waitFor('lift', lift)])
          if (pass > 2) return returned(Object.keys(steps))
          for (const event of [b, a]) await api.send({ name: event })
          return discovered([waitFor('earlier', b)])
        },
      },
    })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    clock.jump(10)
    await api.send({ name: lift })
    const { result } = await api.succeeded(runId)
    expect(result).toEqual([stepId('lift'), stepId('earlier'), stepId('later')])
    expect((await api.steps(runId)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  test('posts racing the park are never lost', async () => {
    const name = unique('racer')
    const racing = step('WaitForEvent', 'it', ({ event }) => {
      // The event is posted during the answer of this pass.
      void api.send({ name: event.data as string })
      return { eventName: event.data, timeoutMs: 1e9 }
    })
    await engine.runner({ workflows: { [name]: flow([racing]) } })
    const runs = await Promise.all(Array.from({ length: 40 }, () => api.send({ name, data: unique('race') })))
    for (const { runId } of runs) await api.succeeded(runId)
  })
})
