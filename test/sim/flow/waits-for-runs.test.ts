// Steps that wait for the ends of other runs, over random histories with crashes between any two writes and passes in every order
// (docs/steps.md#waiting-for-runs): each wait settles once, with the end of the chain or its timeout, and none is forgotten.
// `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect } from 'vitest'
import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import { isSettled, type Step } from '../../../packages/engine/src/domain/model/step.ts'
import { seedsOf } from '../core/seeds.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { type Planted, RandomHistory, testHistories } from './histories.ts'

const SEEDS = seedsOf(36)
const STEPS = 40
const SECOND = 1000
/** Longer than a lease. */
const REST = 30 * SECOND

/** Runs that get a wait through these changes. */
const waitersIn = (changes: readonly Change[]) =>
  changes.flatMap(change =>
    change.type === 'step.recorded' && change.step.op === 'WaitForRun' ? [change.step.runId] : [],
  )

const PLANTED: readonly Planted[] = [
  {
    name: 'a mark that is forgotten',
    tamper: ({ guards, changes }) => [{ guards, changes: changes.filter(({ type }) => type !== 'run.marked') }],
  },
  {
    name: 'a wait that does not rest on the fence of its run',
    from: 8,
    tamper: ({ guards, changes }) => {
      const [waiter] = waitersIn(changes)
      const kept = guards.filter(guard => waiter === undefined || guard.type !== 'run' || guard.runId === waiter)
      return [{ guards: kept, changes }]
    },
  },
]

testHistories({
  shows: 'waits for runs have the end of their chain',
  seeds: SEEDS,
  timeoutMs: 180_000 + SEEDS.length * 500,
  salt: 'waits',
  open: (engine, rng, seen) => new Waits(engine, rng, seen),
  meets: ['ended', 'timedOut', 'links'],
  planted: PLANTED,
})

class Waits extends RandomHistory {
  /** Every settled wait, as first read. */
  readonly #ends = new Map<string, string>()
  #runs: Run[] = []
  #waits: Step[] = []
  #count = 0

  async play(): Promise<void> {
    const workflows = [{ name: 'target' }, { name: 'waiter' }]
    const features = ['wait-for-run', 'continue-as']
    await this.engine.request('POST', '/register', { app: 'app', url: 'http://runner/', workflows, features })
    await this.actAndLook(
      STEPS,
      () => this.#act(),
      () => this.#look(),
    )
    await this.#rest()
    expect(this.engine.errors).toEqual([])
  }

  async #act(): Promise<void> {
    const rng = this.rng
    const passes = [...this.engine.waiting]
    const targets = this.#runs.filter(({ workflow }) => workflow === 'target')
    const kind = rng.weighted({
      target: 10,
      wait: targets.length > 0 ? 20 : 0,
      answer: passes.length > 0 ? 20 : 0,
      race: passes.length > 1 ? 20 : 0,
      cancel: targets.length > 0 ? 3 : 0,
      time: 15,
      crash: 3,
    })
    this.transcript.push(kind)
    switch (kind) {
      case 'target':
        return void (await this.engine.request('POST', '/events', { name: 'target' }))
      case 'wait':
        return void (await this.engine.request('POST', '/events', {
          name: 'waiter',
          data: { runId: rng.pick(targets).id },
        }))
      case 'answer':
        this.#answer(rng.pick(passes))
        return this.engine.settle()
      case 'race':
        for (const pass of passes) this.#answer(pass)
        return this.engine.settle()
      case 'cancel':
        return void (await this.engine.request('POST', `/runs/${rng.pick(targets).id}/cancel`))
      case 'time':
        return this.engine.pass(rng.int(1, 8) * SECOND)
      default:
        return this.engine.crash()
    }
  }

  #answer(pass: WaitingPass): void {
    const rng = this.rng
    const run = this.#runs.find(({ id }) => id === pass.runId)
    if (!run) return
    if (run.workflow === 'target') {
      const result = { data: ++this.#count, logs: [] }
      pass.answer(200, rng.chance(0.3) ? { continueAs: { data: 1 }, logs: [] } : result)
      return
    }
    if (this.#waits.some(({ runId }) => runId === run.id)) {
      pass.answer(200, { data: 'done', logs: [] })
      return
    }
    const { runId } = JSON.parse(run.input as string) as { runId: string }
    const timeoutMs = rng.chance(0.3) ? rng.int(1, 5) * SECOND : undefined
    pass.answer(206, { opcodes: [{ op: 'WaitForRun', id: 'report', name: 'report', runId, timeoutMs }], logs: [] })
  }

  /** Checks that after every lease and timeout, no wait is left for an ended chain. */
  async #rest(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      await this.engine.pass(REST)
      await this.#look()
    }
    const left = this.#waits.filter(step => !isSettled(step.status) && this.#endOf(step))
    expect(left.map(({ runId }) => runId)).toEqual([])
  }

  async #look(): Promise<void> {
    const reads = this.engine.store.in('default')
    const listed = await reads.runs({ limit: 1000, dir: 'asc' })
    this.#runs = []
    this.#waits = []
    for (const { id, workflow } of listed) {
      this.#runs.push((await reads.run(id)) as Run)
      if (workflow === 'waiter') this.#waits.push(...(await reads.steps(id)))
    }
    for (const step of this.#waits) if (isSettled(step.status)) this.#check(step)
    for (const { continuedAs } of this.#runs) if (continuedAs !== undefined) this.note('links')
  }

  #check(step: Step): void {
    const { status, data, timedOut, runId } = step
    const end = JSON.stringify({ status, data, timedOut })
    expect(end, `the wait of ${runId}`).toBe(this.#ends.get(runId) ?? end)
    this.#ends.set(runId, end)
    this.note(timedOut ? 'timedOut' : 'ended')
    if (timedOut) return
    const last = this.#endOf(step)
    expect(last, `the end that the wait of ${runId} has`).toBeDefined()
    const { id, status: how, result } = last as Run
    expect(JSON.parse(data as string)).toEqual({
      runId: id,
      status: how,
      ...(result !== undefined && { result: JSON.parse(result) }),
    })
  }

  /** The last run of the chain that the step waits for, if it has ended. */
  #endOf({ awaitedRunId }: Step): Run | undefined {
    const newest = this.#runs.find(
      ({ id, chainId, continuedAs }) => (chainId ?? id) === awaitedRunId && continuedAs === undefined,
    )
    return newest && isTerminal(newest.status) ? newest : undefined
  }
}
