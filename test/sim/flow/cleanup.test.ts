// Cleanup runs over random histories with crashes between any two writes, late answers and a kept slot
// (docs/concepts.md#cleanup-runs). Whenever the engine is idle, each run that ended with something to undo has exactly one
// cleanup run, which holds its slot; no slot has two holders. At the end, every step that can be undone is undone, the last
// one first. `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { heldSlots, keptSlots } from '../../../packages/engine/src/domain/holds/kept-slots.ts'
import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { seedsOf } from '../core/seeds.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { type Planted, RandomHistory, testHistories } from './histories.ts'

const SEEDS = seedsOf(30)
const STEPS = 50
const SECOND = 1000
const NAMESPACE = 'default'
/** Enough turns for every run of a history to end, if its passes are answered. */
const LAST_TURNS_MAX = 200

const changed =
  (change: (one: Change) => readonly Change[]) =>
  ({ guards, changes }: Unit): Unit[] => [{ guards, changes: changes.flatMap(change) }]
const createsCleanup = (change: Change): change is Extract<Change, { type: 'run.created' }> =>
  change.type === 'run.created' && change.run.cleanupOf !== undefined

const PLANTED: readonly Planted[] = [
  {
    name: 'an end that is committed without its cleanup run',
    tamper: changed(change => (createsCleanup(change) ? [] : [change])),
  },
  {
    name: 'a cleanup run that is created after the end',
    from: 31,
    tamper: ({ guards, changes }) =>
      changes.some(createsCleanup)
        ? [
            { guards, changes: changes.filter(change => !createsCleanup(change)) },
            { guards: [], changes: changes.filter(createsCleanup) },
          ]
        : [{ guards, changes }],
  },
  {
    name: 'a slot that is lost on the way to the cleanup run',
    tamper: changed(change => {
      if (!createsCleanup(change)) return [change]
      const { holds: _, ...run } = change.run
      return [{ ...change, run }]
    }),
  },
  {
    name: 'a cleanup run that is created twice',
    tamper: changed(change =>
      createsCleanup(change) ? [change, { ...change, run: { ...change.run, id: `${change.run.id}2` } }] : [change],
    ),
  },
]

testHistories({
  shows: 'every run is cleaned up after, once,',
  seeds: SEEDS,
  timeoutMs: 180_000 + SEEDS.length * 500,
  salt: 'cleanup',
  open: (engine, rng, seen) => new Chronicle(engine, rng, seen),
  meets: ['failed', 'cancelled', 'without', 'late', 'handed', 'undone', 'repeated'],
  planted: PLANTED,
})

const idOf = (name: string) => createHash('sha256').update(name).digest('hex')
const canBeUndone = ({ status, rollback }: Step) => status === 'succeeded' && rollback === true

class Chronicle extends RandomHistory {
  #runs: Run[] = []
  #steps = new Map<string, Step[]>()
  /** The steps to undo when the cleanup run started, by the run that it follows. */
  readonly #toUndo = new Map<string, string>()
  /** Runs that have been seen as ended. */
  readonly #ended = new Set<string>()
  #count = 0

  async play(): Promise<void> {
    const concurrency = { limit: 1, key: 'event.data.k', hold: 'run' }
    const workflows = [{ name: 'pay', concurrency, timeouts: { run: '25s' }, handlerRetries: 2 }]
    const registration = { app: 'app', url: 'http://runner/', workflows, features: ['cleanup', 'end-with-steps'] }
    await this.engine.request('POST', '/register', registration)
    await this.actAndLook(
      STEPS,
      () => this.#act(),
      () => this.#look(),
    )
    await this.#playToTheEnd()
    expect(this.engine.errors).toEqual([])
  }

  async #act(): Promise<void> {
    const rng = this.rng
    const passes = [...this.engine.waiting]
    const live = this.#live().filter(({ cleanupOf }) => cleanupOf === undefined)
    const kind = rng.weighted({
      send: live.length < 4 ? 10 : 2,
      answer: passes.length > 0 ? 50 : 0,
      cancel: live.length > 0 ? 10 : 0,
      time: 10,
      crash: 3,
    })
    this.transcript.push(`${kind} at ${this.engine.clock.now() % 1e7}`)
    if (kind === 'send') await this.#send()
    else if (kind === 'answer') await this.#answer(rng.pick(passes))
    else if (kind === 'cancel') await this.#cancel(rng.pick(live).id)
    else if (kind === 'time') await this.engine.pass(rng.int(1, 8) * SECOND)
    else await this.engine.crash()
  }

  async #send(): Promise<void> {
    const k = this.rng.pick(['x', 'y'])
    await this.engine.request('POST', '/events', { name: 'pay', data: { k } })
  }

  async #cancel(runId: string): Promise<void> {
    const isWithout = this.rng.chance(0.2)
    const body = isWithout ? { cleanup: false } : undefined
    const answer = await this.engine.request('POST', `/runs/${runId}/cancel`, body)
    this.transcript.push(`  cancel ${runId.slice(-4)}${isWithout ? ' without a cleanup' : ''}: ${answer?.status}`)
    if (answer?.status === 200) this.note(isWithout ? 'without' : 'cancelled')
  }

  /** Answers a pass of a run, or of a cleanup run. */
  async #answer(pass: WaitingPass, isLast = false): Promise<void> {
    if (pass.followed) this.#undo(pass, isLast)
    else this.#work(pass, isLast)
    await this.engine.settle()
  }

  #work(pass: WaitingPass, isLast: boolean): void {
    const rng = this.rng
    if (isTerminal(this.#runs.find(({ id }) => id === pass.runId)?.status ?? 'queued')) this.note('late')
    const done = () => {
      const name = `s${++this.#count}`
      return { op: 'StepRun', id: idOf(name), name, data: name, ...(rng.chance(0.7) ? { rollback: true } : {}) }
    }
    const nap = { op: 'Sleep', id: idOf(`n${++this.#count}`), name: `n${this.#count}`, sleepMs: 2 * SECOND }
    const how = isLast ? 'fail' : rng.weighted({ steps: 6, sleep: 2, fail: 2, end: 1, break: 1 })
    this.transcript.push(`  ${how} of ${pass.runId.slice(-4)}`)
    const error = { message: 'no' }
    if (how === 'steps') pass.answer(206, { opcodes: [done(), ...(rng.chance(0.3) ? [done()] : [])], logs: [] })
    else if (how === 'sleep') pass.answer(206, { opcodes: [done(), nap], logs: [] })
    else if (how === 'fail') pass.answer(422, { error, logs: [] })
    else if (how === 'end') pass.answer(200, { data: 1, opcodes: [done()], logs: [] })
    else pass.answer(500, { error, logs: [] })
  }

  /** The next rollback succeeds or must be retried. */
  #undo(pass: WaitingPass, isLast: boolean): void {
    const steps = Object.values(pass.followed ?? {}).filter(({ rollback }) => rollback)
    const next = steps.reverse().find(({ name }) => pass.memo[idOf(`rollback:${name}`)] === undefined)
    this.transcript.push(`  undo ${next?.name} in ${pass.runId.slice(-4)}`)
    if (!next) {
      const isWaiting = Object.values(pass.memo).some(({ pending }) => pending)
      pass.answer(isWaiting ? 206 : 200, isWaiting ? { opcodes: [], logs: [] } : { data: null, logs: [] })
      return
    }
    const name = `rollback:${next.name}`
    const step = { op: 'StepRun', id: idOf(name), name }
    const fails = !isLast && this.rng.chance(0.2)
    if (fails) this.note('repeated')
    const outcome = fails ? { error: { message: 'not now' }, retryAfterMs: 1000 } : { data: `undid ${next.name}` }
    pass.answer(206, { opcodes: [{ ...step, ...outcome }], logs: [] })
  }

  /** Lets all runs fail, and undoes all of their steps. */
  async #playToTheEnd(): Promise<void> {
    for (let turn = 0; this.#live().length > 0; turn++) {
      expect(turn, `runs that never end: ${this.#live().map(({ id }) => id)}`).toBeLessThan(LAST_TURNS_MAX)
      for (const pass of [...this.engine.waiting]) await this.#answer(pass, true)
      await this.engine.pass(SECOND)
      await this.#look()
    }
    for (const run of this.#runs.filter(({ cleanupOf }) => cleanupOf !== undefined)) {
      const undone = this.#stepsOf(run.id).map(({ name }) => name)
      const wanted = this.#undoable(run.cleanupOf as string).map(({ name }) => `rollback:${name}`)
      if (run.status === 'succeeded') expect(undone, `what ${run.id} undid`).toEqual(wanted.reverse())
      this.note('undone')
    }
  }

  async #look(): Promise<void> {
    const reads = this.engine.store.in(NAMESPACE)
    const ids = (await reads.runs({ limit: 1000, dir: 'asc' })).map(({ id }) => id)
    this.#runs = []
    this.#steps = new Map()
    for (const id of ids) {
      const loaded = await this.engine.store.loadRun(id)
      if (!loaded) continue
      this.#runs.push(loaded.run)
      this.#steps.set(id, loaded.steps)
    }
    for (const run of this.#runs) this.#checkRun(run)
    this.#checkSlots()
  }

  #checkRun(run: Run): void {
    const cleanups = this.#runs.filter(({ cleanupOf }) => cleanupOf === run.id)
    const isOver = run.status === 'failed' || run.status === 'cancelled'
    const hasCleanup = isOver && run.cleanupOf === undefined && !run.skipsCleanup && this.#undoable(run.id).length > 0
    expect(cleanups.length, `cleanup runs of ${run.id}, which is ${run.status}`).toBe(hasCleanup ? 1 : 0)
    if (!isOver) return
    const [cleanup] = cleanups
    // A cleanup run created by a late answer has no slot, because the slot was already free.
    if (!this.#ended.has(run.id) && cleanup && keptSlots(run).length > 0) {
      expect(cleanup.holds, `what ${cleanup.id} holds`).toMatchObject({ slots: keptSlots(run), fromBirth: true })
      this.note('handed')
    }
    if (!this.#ended.has(run.id) && run.status === 'failed') this.note('failed')
    this.#ended.add(run.id)
    if (!cleanup?.startedAt) return
    const toUndo = JSON.stringify(this.#undoable(run.id).map(({ name }) => name))
    expect(toUndo, `what ${cleanup.id} is to undo`).toBe(this.#toUndo.get(run.id) ?? toUndo)
    this.#toUndo.set(run.id, toUndo)
  }

  #checkSlots(): void {
    const holders = new Map<string, string>()
    for (const run of this.#runs) {
      for (const { id } of heldSlots(run)) {
        expect(holders.get(id), `the holders of a slot: ${run.id} and ${holders.get(id)}`).toBeUndefined()
        holders.set(id, run.id)
      }
    }
  }

  /** In the order of settling. */
  #undoable(runId: string): Step[] {
    return this.#stepsOf(runId).filter(canBeUndone)
  }

  #stepsOf(runId: string): Step[] {
    return [...(this.#steps.get(runId) ?? [])].sort((a, b) => a.seq - b.seq)
  }

  #live(): Run[] {
    return this.#runs.filter(({ status }) => !isTerminal(status))
  }
}
