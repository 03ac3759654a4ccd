// Checkpoints as the engine processes them, over a transport that is a function of the test: when steps are durable, which
// steps the acks carry and in which order, and what stops a pass (docs/wire-protocol.md#checkpoints).

import type { InvokeReply } from '@perdure/engine'
import { describe, expect, test } from 'vitest'
import {
  discovered,
  gate,
  type OpenEngine,
  opcode,
  openDatabase,
  openEngine,
  returned,
  scenario,
  stepId,
  tempStoreFile,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'
import {
  type Ack,
  aborted,
  answeredWith,
  broken,
  type ScriptedPass,
  ScriptedTransport,
} from '../../kit/runner/scripted-transport.ts'

const transport = new ScriptedTransport()
const { api, clock, engine } = await scenario({ onDisk: true, ports: { transport } })

const ran = (name: string, data: unknown = name) => opcode('StepRun', name, { data })
const threw = (name: string, fields: object = {}) =>
  opcode('StepRun', name, { error: { message: `${name} broke` }, ...fields })
const waits = (name: string, eventName: string) => opcode('WaitForEvent', name, { eventName, timeoutMs: 3_600_000 })
const emits = (name: string, eventName: string) => opcode('Emit', name, { eventName, data: 1 })
const done = answeredWith(returned('done') as { status: number })
const nothingMore = answeredWith(discovered([]) as { status: number })
const act = (runId: string, action: string) => api.post(`/runs/${runId}/${action}`)

/** Starts a run whose passes follow the script. */
async function start(
  script: (pass: ScriptedPass) => Promise<InvokeReply>,
  { on = engine, registration = {} }: { on?: OpenEngine; registration?: object } = {},
): Promise<string> {
  const name = unique('checkpointed')
  transport.scripts.set(name, script)
  const workflows = [{ name, ...registration }]
  const { status, text } = await on.api.post('/register', {
    app: unique('app'),
    url: 'http://127.0.0.1:9/',
    protocolVersion: 1,
    workflows,
  })
  if (status !== 200) throw new Error(text)
  return (await on.api.send({ name })).runId
}

const passes = (runId: string) => transport.passes.get(runId)?.length ?? 0
const memoOf = (runId: string, no: number) => transport.passes.get(runId)?.[no - 1]?.request.steps ?? {}
const ids = (...names: string[]) => names.map(stepId)
const statuses = async (runId: string) =>
  Object.fromEntries((await api.steps(runId)).map(({ name, status }) => [name, status]))

describe('a pass that goes on', () => {
  test('stores its steps one by one, and needs no other pass', async () => {
    const [first, second] = [gate(), gate()]
    const runId = await start(async ({ checkpoint }) => {
      expect(await checkpoint([ran('a', 1)])).toEqual({ seq: 1, steps: [{ id: stepId('a') }] })
      first.open()
      await second.opened
      expect(await checkpoint([ran('b', 2)])).toEqual({ seq: 2, steps: [{ id: stepId('b') }] })
      return done
    })
    await first.opened
    expect(await statuses(runId)).toEqual({ a: 'succeeded' })
    expect((await api.run(runId)).status).toBe('running')
    second.open()
    expect(await api.succeeded(runId)).toMatchObject({ result: 'done', attempt: 1 })
    expect(passes(runId)).toBe(1)
  })

  test('shows each step in the timeline when it is stored, and the start of the next one', async () => {
    const runId = await start(async ({ checkpoint }) => {
      clock.jump(1000)
      await checkpoint([ran('a')])
      clock.jump(3000)
      await checkpoint([ran('b')])
      return done
    })
    await api.succeeded(runId)
    expect(await api.steps(runId)).toMatchObject([
      { name: 'a', durationMs: 1000 },
      { name: 'b', durationMs: 3000 },
    ])
    const { messages } = await api.stream(runId)
    const said = messages.map(({ data }) => data).filter(({ kind }) => kind === 'step_status')
    expect(said.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'succeeded'],
      ['b', 'succeeded'],
    ])
  })

  test('keeps log lines of every checkpoint once', async () => {
    const line = (message: string, index: number) => ({ level: 'info', message, scope: '@root', index })
    const runId = await start(async ({ checkpoint }) => {
      await checkpoint([ran('a')], { logs: [line('one', 0)] })
      await checkpoint([ran('a')], { seq: 1, logs: [line('one', 0)] })
      const failed = { logs: [{ ...line('tried', 0), scope: 'c' }] }
      await checkpoint([ran('b'), threw('c')], { seq: 2, logs: [line('two', 1), ...failed.logs] })
      await checkpoint([ran('b'), threw('c')], { seq: 2, ...failed })
      return answeredWith({ status: 200, body: { logs: [line('one', 0), line('two', 1), line('three', 2)] } })
    })
    await api.succeeded(runId)
    expect((await api.logs(runId)).map(({ message }) => message)).toEqual(['one', 'two', 'tried', 'three'])
  })

  test('parks at its end without another pass when the runner knows everything', async () => {
    const event = unique('paid')
    const runId = await start(async ({ no, checkpoint }) => {
      if (no > 1) return done
      await checkpoint([ran('a'), waits('payment', event)])
      return nothingMore
    })
    await waitsFor(api, runId, 'event')
    expect(passes(runId)).toBe(1)
    await api.send({ name: event })
    await api.succeeded(runId)
    expect(passes(runId)).toBe(2)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a', 'payment'))
  })

  test('that breaks off during a checkpoint waits for it: nothing else is decided before', async () => {
    const runId = await start(async ({ no, checkpoint }) => {
      if (no > 1) return done
      void checkpoint([ran('a')])
      return broken
    })
    const parked = await waitsFor(api, runId, 'retry')
    clock.jumpTo(Date.parse(parked.waitingFor?.until ?? ''))
    await api.succeeded(runId)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a'))
    const { messages } = await api.stream(runId)
    const seqs = messages.map(({ id }) => id).filter(id => id !== undefined)
    expect(seqs).toEqual([...new Set(seqs)])
  })

  test('is repeated with all its checkpoints when its transport breaks', async () => {
    const runId = await start(async ({ no, checkpoint }) => {
      if (no > 1) return done
      await checkpoint([ran('a', 1)])
      await checkpoint([ran('b', 2)])
      return broken
    })
    const parked = await waitsFor(api, runId, 'retry')
    clock.jumpTo(Date.parse(parked.waitingFor?.until ?? ''))
    expect((await api.succeeded(runId)).attempt).toBe(2)
    expect(memoOf(runId, 2)).toEqual({ [stepId('a')]: { data: 1 }, [stepId('b')]: { data: 2 } })
  })
})

describe('the ack', () => {
  test('first carries what settled from outside, in the order that every later replay has', async () => {
    const event = unique('paid')
    const acks: (Ack | undefined)[] = []
    const runId = await start(async ({ no, checkpoint, request }) => {
      if (no > 1) return done
      acks.push(await checkpoint([waits('payment', event), ran('a')]))
      expect((await api.send({ name: event, data: { n: 1 } })).woke).toBe(1)
      acks.push(await checkpoint([ran('b'), emits('notify', unique('said'))]))
      expect(request.steps).toEqual({})
      return broken
    })
    const parked = await waitsFor(api, runId, 'retry')
    expect(acks[0]?.steps).toEqual([{ id: stepId('payment'), pending: true }, { id: stepId('a') }])
    expect(acks[1]?.steps).toEqual([
      { id: stepId('payment'), data: expect.objectContaining({ name: event, data: { n: 1 } }) },
      { id: stepId('b') },
      { id: stepId('notify'), data: { eventId: expect.any(String) } },
    ])
    clock.jumpTo(Date.parse(parked.waitingFor?.until ?? ''))
    await api.succeeded(runId)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a', 'payment', 'b', 'notify'))
  })

  test('of a checkpoint without steps carries what has settled since', async () => {
    const event = unique('paid')
    const runId = await start(async ({ checkpoint }) => {
      await checkpoint([waits('payment', event)])
      await api.send({ name: event })
      expect((await checkpoint([]))?.steps).toMatchObject([{ id: stepId('payment'), data: { name: event } }])
      expect((await checkpoint([]))?.steps).toEqual([])
      return done
    })
    await api.succeeded(runId)
    expect(passes(runId)).toBe(1)
  })

  test('does not carry what settles after it: another pass does', async () => {
    const event = unique('paid')
    const runId = await start(async ({ no, checkpoint }) => {
      if (no > 1) return done
      await checkpoint([waits('payment', event), ran('a')])
      await api.send({ name: event })
      return nothingMore
    })
    await api.succeeded(runId)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a', 'payment'))
  })

  test('of a repeated checkpoint carries the same, with data, and nothing happens twice', async () => {
    const [event, said] = [unique('paid'), unique('said')]
    const runId = await start(async ({ checkpoint }) => {
      const steps = [waits('payment', event), ran('a', { n: 1 }), emits('notify', said), threw('ship')]
      await checkpoint(steps)
      await api.send({ name: event })
      await checkpoint([ran('b', 2)])
      const again = await checkpoint(steps, { seq: 1 })
      expect(again?.steps.map(({ id }) => id).sort()).toEqual(ids('payment', 'a', 'notify', 'ship').sort())
      expect(again?.steps).toContainEqual({ id: stepId('a'), data: { n: 1 } })
      expect(again?.steps).toContainEqual({ id: stepId('ship'), pending: true })
      const second = await checkpoint([ran('b', 2)], { seq: 2 })
      expect(second?.steps.map(({ id }) => id)).toEqual(ids('payment', 'b'))
      return done
    })
    await api.succeeded(runId)
    const events = await api.get(`/events?name=${said}`)
    expect(events.json).toHaveLength(1)
    expect((await api.step(runId, 'ship')).attempt).toBe(1)
  })
})

describe('steps that fail', () => {
  test('are pending until their retry, which is another pass; it costs the run one attempt', async () => {
    const runId = await start(async ({ no, checkpoint, request }) => {
      if (no > 1) return request.steps[stepId('a')] ? done : answeredWith(discovered([ran('a')]) as { status: number })
      expect((await checkpoint([threw('a')]))?.steps).toEqual([{ id: stepId('a'), pending: true }])
      expect((await checkpoint([threw('b', { retriable: false, catchable: true })]))?.steps).toEqual([
        { id: stepId('b'), error: { message: 'b broke' } },
      ])
      return nothingMore
    })
    const parked = await waitsFor(api, runId, 'retry')
    expect(parked.attempt).toBe(2)
    clock.jumpTo(Date.parse(parked.waitingFor?.until ?? ''))
    await api.succeeded(runId)
    expect(await api.step(runId, 'a')).toMatchObject({ status: 'succeeded', attempt: 2 })
  })

  test('without a retry fail the run at once: the pass is aborted', async () => {
    let ack: Ack | undefined | 'none' = 'none'
    const runId = await start(async ({ checkpoint }) => {
      await checkpoint([ran('a')])
      ack = await checkpoint([threw('b', { retriable: false })])
      return aborted
    })
    expect((await api.failed(runId)).error).toMatchObject({ code: 'step_failed', stepName: 'b' })
    expect(await statuses(runId)).toEqual({ a: 'succeeded', b: 'failed' })
    await until(() => ack === undefined)
    expect(passes(runId)).toBe(1)
  })

  test('an invalid checkpoint fails the run, and the error names the field', async () => {
    const runId = await start(async ({ checkpoint }) => {
      expect(await checkpoint([{ ...ran('a'), op: 'Dance' }])).toBeUndefined()
      return aborted
    })
    const { error } = await api.failed(runId)
    expect(error).toMatchObject({ code: 'invalid_response', message: expect.stringContaining('/opcodes') })
  })
})

describe('what stops a pass', () => {
  test('a pause: the step in flight is stored, the ack stops the runner, and the resume goes on after it', async () => {
    const [stopped, resumed] = [gate(), gate()]
    const runId = await start(async ({ runId, no, checkpoint }) => {
      if (no > 1) return done
      await act(runId, 'pause')
      expect(await checkpoint([ran('a')])).toEqual({ seq: 1, steps: [{ id: stepId('a') }], stop: true })
      stopped.open()
      await resumed.opened
      return nothingMore
    })
    await stopped.opened
    expect(await statuses(runId)).toEqual({ a: 'succeeded' })
    resumed.open()
    await until(async () => (await act(runId, 'resume')).json)
    await api.succeeded(runId)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a'))
  })

  test('a pause that is over before the pass ends lets it go on', async () => {
    const runId = await start(async ({ runId, no, checkpoint }) => {
      if (no > 1) return done
      await act(runId, 'pause')
      expect((await checkpoint([ran('a')]))?.stop).toBe(true)
      await act(runId, 'resume')
      expect((await checkpoint([ran('b')]))?.stop).toBeUndefined()
      await act(runId, 'pause')
      expect((await checkpoint([ran('c')]))?.stop).toBe(true)
      await act(runId, 'resume')
      return nothingMore
    })
    await api.succeeded(runId)
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a', 'b', 'c'))
  })

  test('a cancel: its checkpoint is not stored, and the invoke is aborted', async () => {
    const over = gate<[Ack | undefined, boolean]>()
    const runId = await start(async ({ runId, checkpoint, signal }) => {
      await checkpoint([ran('a')])
      await act(runId, 'cancel')
      over.open([await checkpoint([ran('b')]), signal.aborted])
      return aborted
    })
    expect(await over.opened).toEqual([undefined, true])
    await api.reaches(runId, 'cancelled')
    expect(await statuses(runId)).toEqual({ a: 'succeeded' })
    expect(passes(runId)).toBe(1)
  })

  test('a lease that is lost: nothing more is stored', async () => {
    const over = gate<Ack | undefined>()
    const database = await openDatabase(engine.storeFile)
    const runId = await start(async ({ runId, no, checkpoint }) => {
      if (no > 1) return done
      await checkpoint([ran('a')])
      database.exec(`UPDATE runs SET lease_owner = 'another', fence = fence + 1 WHERE id = '${runId}'`)
      over.open(await checkpoint([ran('b')]))
      return aborted
    })
    expect(await over.opened).toBeUndefined()
    expect(await statuses(runId)).toEqual({ a: 'succeeded' })
    // The lease expires like any other.
    await until(async () => {
      clock.jump(5000)
      return (await api.run(runId)).status === 'succeeded'
    })
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a'))
  })

  test("the run's own timeout, although every checkpoint extends the deadline of the pass", async () => {
    const going = gate()
    const runId = await start(
      async ({ checkpoint, signal }) => {
        await checkpoint([ran('a')])
        going.open()
        if (!signal.aborted) await new Promise<void>(resolve => signal.addEventListener('abort', resolve))
        return aborted
      },
      { registration: { timeouts: { run: '1m' } } },
    )
    await going.opened
    clock.jump(60_000)
    expect((await api.failed(runId)).error?.code).toBe('timeout')
    expect(await statuses(runId)).toEqual({ a: 'succeeded' })
  })

  test('a drain: the step in flight is stored, and the next engine goes on after it', async () => {
    const storeFile = tempStoreFile()
    const first = await openEngine({ storeFile, ports: { transport }, env: { ENGINE_DRAIN_TIMEOUT: '10s' } })
    const [going, draining] = [gate(), gate()]
    let ack: Ack | undefined
    const runId = await start(
      async ({ no, checkpoint }) => {
        if (no > 1) return done
        await checkpoint([ran('a')])
        going.open()
        await draining.opened
        ack = await checkpoint([ran('b')])
        return nothingMore
      },
      { on: first },
    )
    await going.opened
    const stopping = first.stop()
    await until(async () => (await first.api.get('/readyz')).status === 503)
    draining.open()
    await stopping
    expect(ack).toEqual({ seq: 2, steps: [{ id: stepId('b') }], stop: true })
    const second = await openEngine({ storeFile, ports: { transport } })
    expect(await second.api.succeeded(runId)).toMatchObject({ attempt: 1 })
    expect(Object.keys(memoOf(runId, 2))).toEqual(ids('a', 'b'))
  })
})
