// Runs that continue under a singleton key, and steps that are settled by hand, over random histories with crashes between any
// two writes and requests in every order (docs/concepts.md#runs-that-continue, docs/steps.md#settle-a-step). Whenever the engine
// is idle, every chain is complete, each key has one live run, and a step has the acknowledged end.
// `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import { isSettled, type Step } from '../../../packages/engine/src/domain/model/step.ts'
import { seedsOf } from '../core/seeds.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { type Planted, RandomHistory, testHistories } from './histories.ts'

const SEEDS = seedsOf(25)
const STEPS = 40
const SECOND = 1000
const NAMESPACE = 'default'

const changed =
  (change: (one: Change) => readonly Change[]) =>
  ({ guards, changes }: Unit): Unit[] => [{ guards, changes: changes.flatMap(change) }]

const PLANTED: readonly Planted[] = [
  {
    name: 'a link that lost its singleton key',
    tamper: changed(change => {
      if (change.type !== 'run.created' || change.run.continuedFrom === undefined) return [change]
      const { singletonKey: _, ...run } = change.run
      return [{ ...change, run }]
    }),
  },
  {
    name: 'a link that is created after the end of the run before it',
    tamper: ({ guards, changes }) => {
      const isLink = (change: Change) => change.type === 'run.created' && change.run.continuedFrom !== undefined
      if (!changes.some(isLink)) return [{ guards, changes }]
      return [
        { guards, changes: changes.filter(change => !isLink(change)) },
        { guards: [], changes: changes.filter(isLink) },
      ]
    },
  },
  {
    name: 'a settled step overwritten by a late result',
    tamper: changed(change =>
      (change.type === 'step.moved' || change.type === 'step.recorded') && change.step.settledBy ? [] : [change],
    ),
  },
]

testHistories({
  shows: 'chains are whole and settled steps keep their end',
  seeds: SEEDS,
  timeoutMs: 180_000 + SEEDS.length * 500,
  salt: 'chains',
  open: (engine, rng, seen) => new Chronicle(engine, rng, seen),
  meets: ['links', 'settled', 'refused', 'skipped', 'cancelled'],
  planted: PLANTED,
})

class Chronicle extends RandomHistory {
  /** The tokens of acknowledged settles, by run and hashed step. */
  readonly #settled = new Map<string, string>()
  /** Every settled step, as first read. */
  readonly #ends = new Map<string, string>()
  #runs: Run[] = []
  #steps = new Map<string, Step[]>()
  #count = 0

  async play(): Promise<void> {
    const workflows = [{ name: 'loop', singleton: { mode: 'skip', key: 'event.data.k' } }]
    const features = ['continue-as', 'end-with-steps']
    await this.engine.request('POST', '/register', { app: 'app', url: 'http://runner/', workflows, features })
    await this.actAndLook(
      STEPS,
      () => this.#act(),
      () => this.#look(),
    )
    expect(this.engine.errors).toEqual([])
  }

  async #act(): Promise<void> {
    const rng = this.rng
    const open = this.#outstanding()
    const passes = [...this.engine.waiting]
    const kind = rng.weighted({
      send: 10,
      answer: passes.length > 0 ? 40 : 0,
      settle: open.length > 0 ? 15 : 0,
      race: open.length > 0 ? 15 : 0,
      cancel: this.#live().length > 0 ? 3 : 0,
      time: 10,
      crash: 3,
    })
    this.transcript.push(`${kind} at ${this.engine.clock.now() % 1e7}`)
    switch (kind) {
      case 'send':
        return this.#send()
      case 'answer':
        this.#answer(rng.pick(passes))
        return this.engine.settle()
      case 'settle':
        return this.#settle(rng.pick(open))
      case 'race': {
        const step = rng.pick(open)
        const pass = this.engine.waiting.of(step.runId)
        const calls = [this.#settle(step), this.#settle(step)]
        if (pass) this.#answer(pass)
        if (rng.chance(0.3)) calls.push(this.#cancel(step.runId))
        if (rng.chance(0.3)) calls.push(this.engine.pass(rng.int(1, 3) * SECOND))
        await Promise.all(calls)
        return
      }
      case 'cancel':
        return this.#cancel(rng.pick(this.#runs).id)
      case 'time':
        return this.engine.pass(rng.int(1, 8) * SECOND)
      default:
        return this.engine.crash()
    }
  }

  /** While a run with the key is live, an event does not start another. */
  async #send(): Promise<void> {
    const k = this.rng.pick(['x', 'y'])
    const live = this.#live().find(({ singletonKey }) => singletonKey === k)
    const answer = await this.engine.request('POST', '/events', { name: 'loop', data: { k, token: ++this.#count } })
    if (!answer) return
    const { runId, triggered } = answer.body as { runId?: string; triggered: { liveRunId?: string }[] }
    if (live) {
      expect([runId, triggered[0]?.liveRunId], `key ${k}`).toEqual([undefined, live.id])
      this.note('skipped')
    } else expect(runId, `a run with key ${k}`).toBeDefined()
  }

  #answer(pass: WaitingPass): void {
    const rng = this.rng
    const id = (name: string) => createHash('sha256').update(name).digest('hex')
    const known = (this.#steps.get(pass.runId) ?? []).filter(({ op }) => op === 'StepRun')
    const name = known.length > 0 && rng.chance(0.6) ? rng.pick(known).name : `s${++this.#count}`
    const step = { op: 'StepRun', id: id(name), name }
    const token = `real-${++this.#count}`
    const opcode = rng.weighted({ done: 3, failed: 4, wait: 2, sleep: 2 })
    const wait = `w${this.#count}`
    const opcodes = {
      done: [{ ...step, data: token }],
      failed: [{ ...step, error: { message: 'no' }, retryAfterMs: rng.pick([0, 2000]), catchable: true }],
      wait: [{ op: 'WaitForEvent', id: id(wait), name: wait, eventName: 'never', timeoutMs: rng.int(1, 9) * SECOND }],
      sleep: [{ op: 'Sleep', id: id(wait), name: wait, sleepMs: rng.int(1, 9) * SECOND }],
    }[opcode]
    const how = rng.weighted({ continue: 3, steps: 6, end: 1, endWithSteps: 1 })
    this.transcript.push(`  ${how} ${opcode} ${name} of ${pass.runId.slice(-4)}`)
    const continueAs = { data: { k: 'other', token } }
    if (how === 'steps') pass.answer(206, { opcodes, logs: [] })
    else if (how === 'continue') pass.answer(200, { continueAs, logs: [] })
    else if (how === 'end') pass.answer(200, { data: token, logs: [] })
    else pass.answer(200, { continueAs, opcodes: [{ ...step, data: token }], logs: [] })
  }

  async #settle({ runId, id, name }: Step): Promise<void> {
    const token = `by-hand-${++this.#count}`
    const body = { data: token, reason: 'test' }
    const answer = await this.engine.request('POST', `/runs/${runId}/steps/${id}/settle`, body)
    this.transcript.push(`  settle ${name} of ${runId.slice(-4)}: ${answer?.status}`)
    if (!answer) return
    expect([200, 409]).toContain(answer.status)
    this.note(answer.status === 200 ? 'settled' : 'refused')
    if (answer.status !== 200) return
    expect(this.#settled.get(`${runId} ${id}`), 'a step that is settled twice').toBeUndefined()
    this.#settled.set(`${runId} ${id}`, token)
  }

  async #cancel(runId: string): Promise<void> {
    const answer = await this.engine.request('POST', `/runs/${runId}/cancel`)
    if (answer?.status === 200) this.note('cancelled')
    else if (answer) expect(answer.body.error.code).toBe('run_terminal')
  }

  async #look(): Promise<void> {
    const reads = this.engine.store.in(NAMESPACE)
    this.#runs = await reads.runs({ limit: 1000, dir: 'asc' })
    this.#steps = new Map()
    for (const { id } of this.#runs) this.#steps.set(id, await reads.steps(id))
    this.#checkChains()
    for (const steps of this.#steps.values()) for (const step of steps) this.#checkStep(step)
    const first = this.#runs.find(({ continuedAs }) => continuedAs !== undefined)
    if (!first) return
    const answer = await this.engine.request('GET', `/runs/${first.id}/result`)
    if (answer) expect(answer.body.runId, 'the newest of the chain').toBe(this.#newestAfter(first).id)
  }

  #checkChains(): void {
    const byId = new Map(this.#runs.map(run => [run.id, run]))
    for (const run of this.#runs) {
      if (run.continuedAs === undefined) continue
      const next = byId.get(run.continuedAs)
      expect(next, `the run after ${run.id}`).toMatchObject({
        continuedFrom: run.id,
        chainId: run.chainId ?? run.id,
        singletonKey: run.singletonKey,
      })
      expect([run.status, run.result]).toEqual(['succeeded', undefined])
      this.note('links')
    }
    const keys = this.#live().map(({ singletonKey }) => singletonKey)
    expect([...new Set(keys)].length, `the live runs have the keys ${keys}`).toBe(keys.length)
  }

  #checkStep(step: Step): void {
    const key = `${step.runId} ${step.id}`
    const token = this.#settled.get(key)
    if (token !== undefined) expect([key, step.data]).toEqual([key, JSON.stringify(token)])
    if (!isSettled(step.status)) return
    const { status, data, settledBy } = step
    const end = JSON.stringify({ status, data, settledBy })
    expect(end, `the end of ${key}`).toBe(this.#ends.get(key) ?? end)
    this.#ends.set(key, end)
  }

  #newestAfter(run: Run): Run {
    const next = this.#runs.find(({ id }) => id === run.continuedAs)
    return next ? this.#newestAfter(next) : run
  }

  #live(): Run[] {
    return this.#runs.filter(({ status }) => !isTerminal(status))
  }

  #outstanding(): Step[] {
    const live = new Set(this.#live().map(({ id }) => id))
    return [...this.#steps.values()].flat().filter(({ runId, status }) => live.has(runId) && !isSettled(status))
  }
}
