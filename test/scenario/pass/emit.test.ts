// Emit: an event from inside a workflow (docs/wire-protocol.md#opcodes).

import type { EventRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { discovered, emit, flow, opcode, returned, scenario, stepId, unique, until, wait } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })

const log = async (name: string) => (await api.get(`/events?name=${name}`)).json as EventRecord[]

describe('an emitted event', () => {
  test("is recorded with source emit under its run's app", async () => {
    const [name, event] = [unique('emitter'), unique('shipped')]
    const runner = await engine.runner({ workflows: { [name]: flow([emit('notify', event, { n: 1 })]) } })
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    const [record, ...others] = await log(event)
    expect(others).toEqual([])
    const { id, receivedAt, ...rest } = record as EventRecord
    expect(rest).toEqual({
      name: event,
      app: runner.app,
      source: 'emit',
      data: { n: 1 },
      woke: 0,
      triggered: [],
    })
    expect(Number.isNaN(Date.parse(receivedAt))).toBe(false)
    expect(await api.step(runId, 'notify')).toMatchObject({
      op: 'Emit',
      status: 'succeeded',
      emittedEventId: id,
    })
    expect(await api.event(id)).toEqual(record)
  })

  test('fans out to the triggers of every app and wakes waiters, like a posted one', async () => {
    const [name, event, waiter] = [unique('emitter'), unique('shipped'), unique('waiter')]
    const triggers = [{ event }]
    await engine.runner({
      workflows: { [name]: flow([emit('notify', event, 'payload')]), [waiter]: flow([wait('w', event)]) },
    })
    const far = await engine.runner({
      workflows: {
        [unique('listener')]: { handler: ({ event }) => returned(event.data), registration: { triggers } },
      },
    })
    const waiting = await api.send({ name: waiter })
    await api.reaches(waiting.runId, 'waiting')
    await api.succeeded((await api.send({ name })).runId)
    const [record] = await log(event)
    expect(record).toMatchObject({ woke: 1, triggered: [{ app: far.app, runId: expect.any(String) }] })
    const started = await api.succeeded(record?.triggered[0]?.runId as string)
    expect(started).toMatchObject({
      result: 'payload',
      eventId: record?.id,
      eventName: event,
      triggerKind: 'event',
    })
    expect(await api.succeeded(waiting.runId)).toMatchObject({
      result: { w: { id: record?.id, data: 'payload' } },
    })
  })

  test('does not pin what it starts', async () => {
    const [name, event, pin] = [unique('emitter'), unique('shipped'), unique('pin')]
    await engine.runner({
      runner: pin,
      workflows: {
        [name]: flow([emit('notify', event)]),
        [unique('listener')]: { handler: () => returned(), registration: { triggers: [{ event }] } },
      },
    })
    await api.succeeded((await api.send({ name, runner: pin })).runId)
    const [record] = await log(event)
    expect(await api.run(record?.triggered[0]?.runId as string)).not.toHaveProperty('runner')
  })
})

describe('once per run and step', () => {
  test('an opcode that is repeated by later passes emits nothing more', async () => {
    const [name, event] = [unique('emitter'), unique('shipped')]
    const notify = opcode('Emit', 'notify', { eventName: event, data: 1 })
    await engine.runner({
      workflows: {
        [name]: ({ pass }) => {
          if (pass === 4) return returned()
          return discovered([notify, notify, opcode('StepRun', `step ${pass}`, { data: pass })])
        },
      },
    })
    await api.succeeded((await api.send({ name })).runId)
    expect(await log(event)).toHaveLength(1)
  })

  test('two steps of one name are two events', async () => {
    const [name, event] = [unique('emitter'), unique('shipped')]
    await engine.runner({ workflows: { [name]: flow([emit('notify', event, 1), emit('notify', event, 2)]) } })
    await api.succeeded((await api.send({ name })).runId)
    expect((await log(event)).map(({ data }) => data)).toEqual([2, 1])
  })
})

describe('an emit and a wait of one run', () => {
  test('a wait after the emit sees it', async () => {
    const [name, event] = [unique('self'), unique('echo')]
    await engine.runner({ workflows: { [name]: flow([emit('call', event, 'hello'), wait('hear', event)]) } })
    const { result } = await api.succeeded((await api.send({ name })).runId)
    expect(result).toMatchObject({ hear: { name: event, data: 'hello' } })
  })

  test('a wait reported beside the emit sees it', async () => {
    const [name, event] = [unique('self'), unique('echo')]
    const { record } = await engine.runner({
      workflows: { [name]: flow([[wait('hear', event), emit('call', event, 'hello')]]) },
    })
    const { runId } = await api.send({ name })
    await api.succeeded(runId)
    expect(record.of(runId).at(-1)?.steps[stepId('hear')]).toMatchObject({ data: { data: 'hello' } })
  })

  test('a wait parked earlier is woken by it', async () => {
    const [name, event, lift] = [unique('self'), unique('echo'), unique('lift')]
    await engine.runner({
      workflows: {
        [name]: ({ steps, pass }) => {
          if (steps[stepId('hear')]?.data !== undefined) return returned()
          const wait = (name: string, eventName: string) => opcode('WaitForEvent', name, { eventName, timeoutMs: 1e9 })
          if (pass === 1) return discovered([wait('hear', event), wait('lift', lift)])
          return discovered([opcode('Emit', 'call', { eventName: event })])
        },
      },
    })
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    await api.send({ name: lift })
    await api.succeeded(runId)
    expect((await until(() => log(event)))[0]).toMatchObject({ woke: 1 })
  })
})
