// Answers that repeat or contradict settled steps: a committed step never changes, effects happen once, and a pass whose lease
// was taken over changes nothing (docs/promises.md#runs).

import type { EventRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import {
  discovered,
  gate,
  type Handler,
  onCleanup,
  opcode,
  openEngine,
  returned,
  scenario,
  tempStoreFile,
  unique,
  until,
  waitsFor,
} from '../kit/index.ts'

const { api, clock, start } = await scenario()

const progress = (pass: number) => opcode('StepRun', `progress ${pass}`, { data: pass })

describe('opcodes of steps that are settled already', () => {
  test('a second result for a settled step is ignored', async () => {
    const { runId, record } = await start(({ pass }) => {
      if (pass === 4) return returned()
      return discovered([opcode('StepRun', 'once', { data: `pass ${pass}` }), progress(pass)])
    })
    await api.succeeded(runId)
    expect(await api.step(runId, 'once')).toMatchObject({ data: 'pass 1', attempt: 1, index: 0 })
    const id = opcode('StepRun', 'once').id
    expect(record.of(runId).map(({ steps }) => steps[id]?.data)).toEqual([undefined, 'pass 1', 'pass 1', 'pass 1'])
  })

  test('an error for a step that succeeded does not fail the run', async () => {
    const { runId } = await start(({ pass }) => {
      if (pass === 3) return returned('fine')
      const fields = pass === 1 ? { data: 1 } : { error: { message: 'no' }, retriable: false }
      return discovered([opcode('StepRun', 'once', fields), progress(pass)])
    })
    expect(await api.succeeded(runId)).toMatchObject({ result: 'fine', attempt: 1 })
  })

  test('the id decides: another opcode or name with the same id is a repeat', async () => {
    const { runId } = await start(({ pass }) => {
      if (pass === 3) return returned()
      const first = opcode('StepRun', 'once', { data: 1 })
      const other = { ...opcode('Sleep', 'once', { sleepMs: 1e9 }), name: 'another name' }
      return discovered([pass === 1 ? first : other, progress(pass)])
    })
    await api.succeeded(runId)
    expect(await api.step(runId, 'once')).toMatchObject({ op: 'StepRun', data: 1 })
  })

  test('a repeated child, wait or sleep is parked once and keeps its deadline', async () => {
    const [kid, event, lift] = [unique('kid'), unique('event'), unique('lift')]
    const wait = (name: string, eventName: string) => opcode('WaitForEvent', name, { eventName, timeoutMs: 60_000 })
    const parked = [
      opcode('RunWorkflow', 'child', { childName: kid }),
      wait('w', event),
      opcode('Sleep', 's', { sleepMs: 60_000 }),
    ]
    const { runId, record } = await start(
      ({ pass }) => discovered(pass === 1 ? [...parked, wait('lift', lift)] : parked),
      { others: { [kid]: () => discovered([opcode('Sleep', 'k', { sleepMs: 1e9 })]) } },
    )
    await api.reaches(runId, 'waiting')
    const before = await api.steps(runId)
    clock.jump(30_000)
    await api.send({ name: lift })
    await until(() => record.passes(runId) === 2)
    await api.reaches(runId, 'waiting')
    expect((await api.steps(runId)).slice(0, 3)).toEqual(before.slice(0, 3))
    expect((await api.runs('?limit=200')).filter(({ parentRunId }) => parentRunId === runId)).toHaveLength(1)
  })

  test('repeats alone, with nothing pending, fail the run instead of spinning', async () => {
    const { runId, record } = await start(() => discovered([opcode('StepRun', 'once', { data: 1 })]))
    expect((await api.failed(runId)).error).toMatchObject({ code: 'invalid_response' })
    expect(record.passes(runId)).toBe(2)
  })

  test('a 200 while steps are pending ends the run and cancels them', async () => {
    const event = unique('event')
    const { runId } = await start(({ pass }) =>
      pass === 1
        ? discovered([opcode('WaitForEvent', 'w', { eventName: event, timeoutMs: 1e9 }), progress(1)])
        : returned('enough'),
    )
    expect((await api.succeeded(runId)).result).toBe('enough')
    expect(await api.step(runId, 'w')).toMatchObject({ status: 'cancelled' })
    expect((await api.send({ name: event })).woke).toBe(0)
  })
})

/** The store, with some of its methods replaced. */
function overriding(store: Store, own: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name in own) return own[name as keyof Store]
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

describe('a pass whose lease was taken over', () => {
  /**
   * Opens two engines on one store. The second takes over the first one's leases, as after a crash, while the first is still
   * alive.
   */
  async function takeover(
    answers: { first: Handler; second: Handler },
    { hold = (store: Store) => store, ready = Promise.resolve(), features = [] as string[], registration = {} } = {},
  ) {
    const store = await openSqliteStore({ file: tempStoreFile() })
    onCleanup(() => store.close())
    // The engines must not close the shared store.
    const shared = overriding(store, { close: async () => {} })
    const name = unique('contested')
    // The engine that lost the lease must not claim the run again: the run belongs to the second engine.
    let isDead = false
    const its = overriding(hold(shared), {
      claimRuns: async claim => (isDead ? [] : shared.claimRuns(claim)),
    })
    const former = await openEngine({ clock, ports: { store: its } })
    const handler: Handler = (invoke, record) => (invoke.pass === 1 ? answers.first : answers.second)(invoke, record)
    const runner = await former.runner({ workflows: { [name]: { handler, registration } } })
    await runner.register(former.api, { features })
    const { runId } = await former.api.send({ name })
    await until(() => runner.record.passes(runId) === 1)
    await ready
    isDead = true
    const successor = await openEngine({ clock, ports: { store: shared } })
    return { former, successor, runId, record: runner.record }
  }

  test('an answer that comes after the second engine has ended the run changes nothing: an emit by both is one event', async () => {
    const [late, event] = [gate(), unique('sent')]
    const reports = (from: string) =>
      discovered([opcode('StepRun', 'a', { data: from }), opcode('Emit', 'e', { eventName: event, data: from })])
    const { successor, former, runId, record } = await takeover({
      first: async () => {
        await late.opened
        return reports('former')
      },
      second: ({ pass }) => (pass === 2 ? reports('successor') : returned('successor')),
    })
    expect(await successor.api.succeeded(runId)).toMatchObject({ result: 'successor', attempt: 1 })
    const before = [
      (await successor.api.get(`/runs/${runId}`)).text,
      (await successor.api.get(`/runs/${runId}/steps`)).text,
    ]
    late.open()
    // The first engine continues with other work, so its late commit has been decided by then.
    const other = await former.api.send({ name: unique('other') })
    expect(other.eventId).toBeDefined()
    await former.stop()
    expect([
      (await successor.api.get(`/runs/${runId}`)).text,
      (await successor.api.get(`/runs/${runId}/steps`)).text,
    ]).toEqual(before)
    const log = (await successor.api.get(`/events?name=${event}`)).json as EventRecord[]
    expect(log.map(({ data }) => data)).toEqual(['successor'])
    expect(record.passes(runId)).toBe(3)
  })

  test("an answer that comes while the second engine's pass is in flight is not committed", async () => {
    const [late, held] = [gate(), gate()]
    const { successor, former, runId, record } = await takeover({
      first: async () => {
        await late.opened
        return returned('former')
      },
      second: async () => {
        await held.opened
        return returned('successor')
      },
    })
    await until(() => record.passes(runId) === 2)
    late.open()
    await former.stop()
    expect((await successor.api.run(runId)).status).toBe('running')
    held.open()
    expect(await successor.api.succeeded(runId)).toMatchObject({ result: 'successor' })
  })

  test('an engine that was stopped sends no further pass of a run that another engine has continued', async () => {
    const [still, thawed] = [gate(), gate()]
    let isStill = false
    /** Calls take effect, but a stopped engine gets no answer to them. */
    const heard = async <T>(answer: Promise<T>): Promise<T> => {
      if (!isStill) return answer
      await answer.then(() => still.open())
      await thawed.opened
      return answer
    }
    const { successor, former, runId, record } = await takeover(
      {
        first: async () => {
          isStill = true
          return discovered([opcode('StepRun', 'a', { data: 'former' })])
        },
        second: () => returned('successor'),
      },
      {
        hold: store =>
          overriding(store, {
            commit: unit => heard(store.commit(unit)),
            extendRuns: (...lease) => heard(store.extendRuns(...lease)),
          }),
        ready: still.opened,
      },
    )
    expect(await successor.api.succeeded(runId)).toMatchObject({ result: 'successor' })
    expect(record.passes(runId)).toBe(2)
    clock.jump(15_000)
    isStill = false
    thawed.open()
    // The engine continues. It would have sent its next pass before it records an event.
    await former.api.send({ name: unique('other') })
    await former.stop()
    expect(record.passes(runId)).toBe(2)
  })

  test('what it spent does not count, as its attempt does not', async () => {
    const [late, held] = [gate(), gate()]
    const spends = (usd: number) => discovered([opcode('StepRun', 'a', { data: 1, spent: { usd } })])
    const { successor, former, runId, record } = await takeover(
      {
        first: async () => {
          await late.opened
          return spends(3)
        },
        second: async ({ pass }) => {
          if (pass > 2) return returned()
          await held.opened
          return spends(1)
        },
      },
      { features: ['budgets', 'cleanup'], registration: { budget: { usd: 9 } } },
    )
    await until(() => record.passes(runId) === 2)
    late.open()
    await former.stop()
    held.open()
    await successor.api.succeeded(runId)
    expect((await successor.api.run(runId)).budget).toEqual({ usd: { limit: 9, spent: 1 } })
  })
})

test('a wait that is reported twice takes one event', async () => {
  const [event, second] = [unique('event'), unique('event')]
  const wait = (name: string, eventName: string) => opcode('WaitForEvent', name, { eventName, timeoutMs: 1e9 })
  const { runId } = await start(({ pass }) =>
    pass < 3 ? discovered([wait('w', event), wait('x', second)]) : returned(),
  )
  await waitsFor(api, runId, 'event')
  await api.send({ name: event, data: 1 })
  await until(async () => (await api.step(runId, 'w')).status === 'succeeded')
  await api.send({ name: event, data: 2 })
  await api.send({ name: second })
  await api.succeeded(runId)
  expect(await api.step(runId, 'w')).toMatchObject({ data: { data: 1 } })
})
