// A throttle over virtual time, through the HTTP interface: runs that are cancelled, timed out, paused or crashed leave no gap in
// its starts and cause no burst. Its start queue is in order of priority.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import { onCleanup } from '../../kit/cleanup.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { CrashingEngine } from './crashing-engine.ts'

const SECOND = 1000

/** An engine with one workflow, whose runner ends a pass at once unless `hold` is set. */
class Rated {
  holdsPasses = false
  readonly #engine: CrashingEngine
  readonly #workflow: Record<string, unknown>
  readonly #beganAt: number

  private constructor(engine: CrashingEngine, workflow: Record<string, unknown>) {
    this.#engine = engine
    this.#workflow = { name: 'rated', triggers: [{ event: 'go' }], ...workflow }
    this.#beganAt = engine.clock.now()
  }

  static async open(workflow: Record<string, unknown>): Promise<Rated> {
    const engine = await CrashingEngine.open()
    onCleanup(() => engine.close())
    const rated = new Rated(engine, workflow)
    await rated.register()
    return rated
  }

  get engine(): CrashingEngine {
    return this.#engine
  }

  get passes(): WaitingPass[] {
    return [...this.#engine.waiting]
  }

  register() {
    const body = { app: 'app', url: 'http://runner/', workflows: [this.#workflow] }
    return this.#engine.request('POST', '/register', body)
  }

  /** Ms since the engine was opened. */
  now(): number {
    return this.#engine.clock.now() - this.#beganAt
  }

  async send(data: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.#engine.request('POST', '/events', { name: 'go', data })
    await this.#answerAll()
    return answer?.body.runId
  }

  /** The events are 1 ms apart, so that the runs have an order by age. */
  async sendMany(count: number): Promise<string[]> {
    const runIds: string[] = []
    for (let i = 0; i < count; i++) {
      runIds.push(await this.send())
      await this.pass(1)
    }
    return runIds
  }

  async act(action: 'cancel' | 'pause' | 'resume', runIds: readonly string[]): Promise<void> {
    for (const runId of runIds) await this.#engine.request('POST', `/runs/${runId}/${action}`)
    await this.#answerAll()
  }

  pass(ms: number): Promise<void> {
    return this.passTo(this.now() + ms)
  }

  /** Ms since the engine was opened. */
  async passTo(at: number): Promise<void> {
    await this.#engine.pass(at - this.now())
    await this.#answerAll()
  }

  async end(pass: WaitingPass): Promise<void> {
    pass.answer(200, { data: 1, logs: [] })
    await this.#engine.settle()
  }

  async #answerAll(): Promise<void> {
    if (this.holdsPasses) return
    for (const pass of this.#engine.waiting) pass.answer(200, { data: 1, logs: [] })
    await this.#engine.settle()
  }

  runs(): Promise<Run[]> {
    return this.#engine.store.in('default').runs({ limit: 1000, dir: 'asc' })
  }

  /** When runs started, in ms since the engine was opened, in ascending order. */
  async starts(): Promise<number[]> {
    return (await this.#started()).map(({ startedAt }) => (startedAt as number) - this.#beganAt)
  }

  /** The run ids in the order in which they started. */
  async order(): Promise<string[]> {
    return (await this.#started()).map(({ id }) => id)
  }

  async #started(): Promise<Run[]> {
    const started = (await this.runs()).filter(({ startedAt }) => startedAt !== undefined)
    return started.sort((a, b) => (a.startedAt as number) - (b.startedAt as number))
  }
}

const every = (ms: number, count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i * ms)
const aSecond = { limit: 1, period: '1s' }

describe('a start that a run does not take is left to others', () => {
  test('when runs time out in the queue', async () => {
    const rated = await Rated.open({ throttle: aSecond, timeouts: { queue: '900ms' } })
    for (let i = 0; i < 40; i++) {
      await rated.send()
      await rated.pass(250)
    }
    await rated.pass(SECOND)
    expect(await rated.starts()).toEqual(every(SECOND, 11))
    const left = (await rated.runs()).filter(({ startedAt }) => startedAt === undefined)
    expect(new Set(left.map(({ error }) => error?.code))).toEqual(new Set(['timeout']))
    const at = rated.now()
    await rated.send()
    expect((await rated.starts()).at(-1)).toBe(at)
  })

  test('when they are cancelled', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const [, ...queued] = await rated.sendMany(20)
    const last = queued.pop() as string
    await rated.act('cancel', queued)
    await rated.pass(SECOND)
    expect(await rated.starts()).toEqual([0, SECOND])
    await rated.send()
    await rated.pass(SECOND)
    expect(await rated.starts()).toEqual([0, SECOND, 2 * SECOND])
    expect((await rated.order())[1]).toBe(last)
  })

  test('when a singleton cancels them', async () => {
    const rated = await Rated.open({ throttle: aSecond, singleton: { mode: 'cancel' } })
    for (let i = 0; i < 50; i++) {
      await rated.send()
      await rated.pass(100)
    }
    await rated.pass(SECOND)
    expect(await rated.starts()).toEqual(every(SECOND, 6))
  })

  test('when the first of the start queue is paused', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const [, first, second] = (await rated.sendMany(3)) as [string, string, string]
    await rated.act('pause', [first])
    await rated.pass(SECOND)
    expect((await rated.order())[1]).toBe(second)
    await rated.act('resume', [first])
    await rated.pass(SECOND)
    expect(await rated.starts()).toEqual(every(SECOND, 3))
  })
})

describe('the rate is kept', () => {
  test('over a restart, although the limiter is empty', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    await rated.sendMany(20)
    await rated.passTo(3 * SECOND)
    rated.engine.forget()
    await rated.engine.down(5500)
    await rated.pass(0)
    expect(await rated.starts()).toEqual([...every(SECOND, 4), 8500])
    await rated.send()
    await rated.pass(30 * SECOND)
    expect(await rated.starts()).toEqual([...every(SECOND, 4), ...every(SECOND, 17, 8500)])
  })

  test('when many are resumed at once, and each has its former place', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const [first, ...paused] = await rated.sendMany(10)
    await rated.act('pause', paused)
    await rated.passTo(30 * SECOND)
    await rated.act('resume', paused)
    await rated.pass(30 * SECOND)
    expect(await rated.starts()).toEqual([0, ...every(SECOND, 9, 30 * SECOND)])
    expect(await rated.order()).toEqual([first, ...paused.sort()])
  })

  test('when the runner could not be reached for a while', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    rated.engine.isUnreachable = true
    await rated.sendMany(10)
    await rated.passTo(20 * SECOND)
    rated.engine.isUnreachable = false
    const tried = await rated.starts()
    expect(tried.length).toBeLessThan(8)
    await rated.register()
    await rated.pass(60 * SECOND)
    const starts = await rated.starts()
    expect(starts).toHaveLength(10)
    for (const [i, at] of starts.slice(1).entries()) expect(at - (starts[i] as number)).toBeGreaterThanOrEqual(SECOND)
    expect(starts.at(-1)).toBeLessThanOrEqual((11 - tried.length + 20) * SECOND)
  })

  test('with a thousand starts a second', async () => {
    const count = 300
    const rated = await Rated.open({ throttle: { limit: 1000, period: '1s' } })
    rated.holdsPasses = true
    await Promise.all(Array.from({ length: count }, () => rated.engine.request('POST', '/events', { name: 'go' })))
    await rated.pass(0)
    while (rated.now() < count + 50) {
      await rated.pass(10)
      for (const pass of rated.passes) pass.answer(200, { data: 1, logs: [] })
      await rated.engine.settle()
    }
    const runs = await rated.runs()
    expect(runs.filter(({ status }) => status === 'succeeded')).toHaveLength(count)
    const starts = await rated.starts()
    for (const from of every(50, count / 50 - 1)) {
      const startedIn = starts.filter(at => at >= from && at < from + 100)
      expect(Math.abs(startedIn.length - 100)).toBeLessThan(30)
    }
  })

  test('for runs to which an engine of the previous version gave start times', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const runIds = await rated.sendMany(6)
    const held = await Promise.all(runIds.slice(1).map(runId => rated.engine.store.loadRun(runId)))
    // As the previous version left them: without a place in the start queue, but with a time that has passed for all of them.
    for (const { run } of held.flatMap(loaded => loaded ?? [])) {
      const availableAt = rated.engine.clock.now() - rated.now() + 5 * SECOND
      const moved = { ...run, startQueue: undefined, availableAt, fence: run.fence + 1 }
      await rated.engine.store.commit({
        guards: [],
        changes: [{ type: 'run.moved', run: moved, frames: [] }],
      })
    }
    await rated.pass(20 * SECOND)
    expect(await rated.starts()).toEqual([0, ...every(SECOND, 5, 5 * SECOND)])
  })
})

describe('the start queue', () => {
  test('is in the order of priorities, and then of age', async () => {
    const rated = await Rated.open({ throttle: aSecond, priority: 'event.data.p' })
    const first = await rated.send({ p: 0 })
    const runs = new Map<number, string>()
    for (const p of [0, 3, 9, 1, 2]) runs.set(p, await rated.send({ p }))
    await rated.pass(1500)
    // This run arrives later, and starts before the runs of lower priority.
    const late = await rated.send({ p: 5 })
    await rated.pass(10 * SECOND)
    const of = (p: number) => runs.get(p)
    expect(await rated.order()).toEqual([first, of(9), late, of(3), of(2), of(1), of(0)])
    expect(await rated.starts()).toEqual(every(SECOND, 7))
  })

  test('is not overtaken by a run that comes when a start is allowed', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const runIds = await rated.sendMany(3)
    rated.engine.forget()
    await rated.engine.down(0)
    runIds.push(await rated.send())
    await rated.pass(5 * SECOND)
    expect(await rated.order()).toEqual([...runIds].sort())
  })

  test('waits for a slot that is not free, and takes a start again', async () => {
    const rated = await Rated.open({ throttle: aSecond, concurrency: { limit: 1 } })
    rated.holdsPasses = true
    const runIds = await rated.sendMany(5)
    // The slot is slower than the throttle: a run starts when it gets the slot.
    await rated.passTo(1500)
    expect(await rated.starts()).toEqual([0])
    await rated.end(rated.passes[0] as WaitingPass)
    expect(await rated.starts()).toEqual([0, 1500])
    // The slot is faster: a run starts when the throttle allows it, because the slot is already free.
    await rated.end(rated.passes[0] as WaitingPass)
    expect(rated.passes).toEqual([])
    for (const at of [2500, 3500, 4500]) {
      await rated.passTo(at)
      expect((await rated.starts()).at(-1)).toBe(at)
      await rated.end(rated.passes[0] as WaitingPass)
    }
    expect(await rated.order()).toEqual([...runIds].sort())
  })

  test('is reported: why a run waits, and how many runs are before it', async () => {
    const rated = await Rated.open({ throttle: aSecond })
    const runIds = (await rated.sendMany(3)).sort()
    const why = async (at: number) => (await rated.engine.request('GET', `/runs/${runIds[at]}/why`))?.body
    const until = new Date(rated.engine.clock.now() - rated.now() + SECOND).toISOString()
    expect(await why(1)).toMatchObject({ position: 0, wakeAt: until })
    const last = await why(2)
    expect(last).toMatchObject({ position: 1, waitingFor: { kind: 'throttle' } })
    expect(last.wakeAt).toBeUndefined()
  })
})
