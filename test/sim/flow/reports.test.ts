// Progress and attributes that handlers report in answers and checkpoints, over random histories with crashes between any two
// writes and wall clocks that are set. Attributes are stored with the steps of their report or not at all, the newest progress
// wins, few values are stored, and none is lost at the end of a pass. `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n`
// only that one; a failure names its seed.

import { expect, it } from 'vitest'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { isTerminal } from '../../../packages/engine/src/domain/model/run.ts'
import { stepId } from '../../kit/runner/wire.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import { ensure } from '../core/violation.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { CrashingEngine, type Tamper } from './crashing-engine.ts'
import { expectNoticed, type History, type Planted, playOn } from './histories.ts'

const SEEDS = seedsOf(20)
const ACTIONS = 40
/** At most five values a second. */
const EVERY_MS = 200
/** The longest nap of a handler. */
const NAP_MS = 500
/** Another engine takes up a run whose engine died within this time. */
const TAKEN_UP_MS = 60_000
const KEYS = ['plan', 'tier', 'city']
/** Durations by which the wall clock is moved. */
const CLOCK_MS = 3 * 3_600_000

const noCounts = () => ({ reports: 0, lost: 0, stored: 0, waited: 0, ends: 0, parks: 0, clocks: 0 })
type Counts = ReturnType<typeof noCounts>

it(`reports are stored as promised in ${SEEDS.length} histories`, {
  timeout: 180_000 + SEEDS.length * 1000,
}, async () => {
  const counts = noCounts()
  for (const seed of SEEDS) await play(seed, counts)
  console.info(`${SEEDS.length} histories`, counts)
  if (isOneSeed) return
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(SEEDS.length / 4)
})

const without =
  (type: string, when: (unit: Unit) => boolean = () => true): Tamper =>
  unit => [when(unit) ? { ...unit, changes: unit.changes.filter(change => change.type !== type) } : unit]
const stops = ({ changes }: Unit) =>
  changes.some(change => change.type === 'run.moved' && !['running', 'queued'].includes(change.run.status))
const PLANTED: readonly Planted[] = [
  { name: 'the end of a pass forgets the progress', tamper: without('run.progressed', stops) },
  {
    name: 'a progress that waits is forgotten',
    tamper: without('run.progressed', ({ changes }) => changes.length === 1),
  },
  {
    name: 'an older progress replaces a newer one',
    tamper: ({ guards, changes }) => {
      const aged = changes.map(change =>
        change.type === 'run.progressed'
          ? { ...change, progress: { ...change.progress, value: String(Number(change.progress.value) - 3) } }
          : change,
      )
      return [{ guards, changes: aged }]
    },
  },
  {
    name: 'attributes are stored in a commit of their own',
    tamper: unit => {
      const own = unit.changes.filter(({ type }) => type === 'run.attributed')
      if (own.length === 0) return [unit]
      const others = unit.changes.filter(({ type }) => type !== 'run.attributed')
      return [
        { guards: unit.guards, changes: own },
        { guards: unit.guards, changes: others },
      ]
    },
  },
  {
    name: 'a list still finds the attribute that was replaced',
    tamper: ({ guards, changes }) => [
      {
        guards,
        changes: changes.map(change => (change.type === 'run.attributed' ? { ...change, removed: [] } : change)),
      },
    ],
  },
  { name: 'attributes are not stored', tamper: without('run.attributed') },
]

it.each(PLANTED)('notices $name', bug => expectNoticed(bug, seed => play(seed, noCounts(), bug.tamper)))

async function play(seed: number, counts: Counts, tamper?: Tamper): Promise<void> {
  const engine = await CrashingEngine.open({ tamper: unit => history.observe(tamper?.(unit) ?? [unit]) })
  const history: ReportHistory = new ReportHistory(engine, new Rng(seed, 'reports'), counts)
  await playOn([engine], seed, history)
}

/** A report of a handler, stored as a whole. Its step shows whether it was stored. */
interface Report {
  n: number
  step?: string
  attributes?: Record<string, number | null>
  progress?: number
}

class ReportHistory implements History {
  readonly transcript: string[] = []
  readonly #counts: Counts
  readonly #engine: CrashingEngine
  readonly #rng: Rng
  #runId = ''
  #reported = 0
  #checkpoints = new WeakMap<WaitingPass, number>()
  #attributes: Record<string, number> = {}
  /** Values that were reported for the run. */
  #values = new Set<number>()
  /** The newest progress that a live engine has accepted. */
  #newest: number | undefined
  #stored: number | undefined
  /** The last value that was written, and its time by the clock that is never set. */
  #written: number | undefined
  #writtenAt = Number.NEGATIVE_INFINITY
  #wasSetBack = false
  /** Values that were written too soon after the previous one. */
  readonly #early: string[] = []

  constructor(engine: CrashingEngine, rng: Rng, counts: Counts) {
    this.#counts = counts
    this.#engine = engine
    this.#rng = rng
  }

  async play(): Promise<void> {
    const workflows = [{ name: 'report', triggers: [{ event: 'go' }] }]
    const body = { app: 'shop', runner: 'r', url: 'http://r.test', features: ['attributes'], workflows }
    expect((await this.#engine.request('POST', '/register', body))?.status).toBe(200)
    await this.#start()
    for (let i = 0; i < ACTIONS; i++) await this.#act()
  }

  /**
   * Checks the rate of the values that are about to be written. A value that a stop brings, or that follows a clock set back,
   * does not wait.
   */
  observe(units: readonly Unit[]): readonly Unit[] {
    for (const unit of units) {
      for (const change of unit.changes) {
        if (change.type !== 'run.progressed') continue
        const now = this.#engine.clock.now()
        const waited = now - this.#writtenAt
        const value = Number(change.progress.value)
        // A stale commit is repeated.
        const isFree = stops(unit) || this.#wasSetBack || value === this.#written
        if (!isFree && waited < EVERY_MS) this.#early.push(`${value} after ${waited} ms`)
        this.#written = value
        this.#writtenAt = now
        this.#wasSetBack = false
      }
    }
    return units
  }

  async #start(): Promise<void> {
    this.#engine.spare()
    const answer = await this.#engine.request('POST', '/events', { name: 'go' })
    this.#runId = answer?.body.runId
    this.#attributes = {}
    this.#values = new Set()
    this.#newest = undefined
    this.#stored = undefined
    this.#writtenAt = Number.NEGATIVE_INFINITY
  }

  async #act(): Promise<void> {
    const rng = this.#rng
    const pass = await this.#pass()
    const kind = rng.weighted({
      checkpoint: 8,
      next: 3,
      park: 2,
      end: 0.7,
      time: 5,
      crash: 0.5,
      crashLater: 2,
      clock: 1,
    })
    if (kind === 'checkpoint') await this.#checkpoint(pass)
    else if (kind === 'next' || kind === 'park' || kind === 'end') await this.#answer(pass, kind)
    else if (kind === 'time') await this.#time(rng.pick([1, 50, 150, EVERY_MS, 1000]))
    else if (kind === 'crash') await this.#record('crash', () => this.#engine.crash())
    else if (kind === 'clock') await this.#setClock(rng.int(-CLOCK_MS, CLOCK_MS))
    else {
      const [n, before] = [rng.int(1, 3), rng.chance(0.5)]
      await this.#record(`crash at write ${n}, before ${before}`, async () => this.#engine.crashAtWrite(n, before))
    }
  }

  /** Resolves with the pass under way, or after a nap or a crash with the next one. */
  async #pass(): Promise<WaitingPass> {
    for (let ms = 0; ms < TAKEN_UP_MS; ms += 1000) {
      const pass = this.#engine.waiting.of(this.#runId)
      if (pass) return pass
      await this.#record('wait', () => this.#engine.pass(1000))
    }
    throw new Error(`no pass within ${TAKEN_UP_MS} ms`)
  }

  #report({ withStep }: { withStep: boolean }): Report {
    const rng = this.#rng
    const n = ++this.#reported
    this.#counts.reports++
    const report: Report = { n }
    if (withStep) report.step = `s${n}`
    if (withStep && rng.chance(0.7)) {
      const key = rng.pick(KEYS)
      report.attributes = { last: n, [key]: rng.chance(0.3) ? null : n }
    }
    if (rng.chance(0.8)) {
      report.progress = n
      this.#values.add(n)
    }
    return report
  }

  async #checkpoint(pass: WaitingPass): Promise<void> {
    const report = this.#report({ withStep: this.#rng.chance(0.4) })
    const seq = (this.#checkpoints.get(pass) ?? 0) + 1
    this.#checkpoints.set(pass, seq)
    await this.#record(`checkpoint ${seq}: ${JSON.stringify(report)}`, async () => {
      const ack = await this.#engine.orDeath(pass.checkpoint({ seq, logs: [], ...bodyOf(report) }))
      await this.#taken(report, ack !== undefined)
    })
  }

  async #answer(pass: WaitingPass, kind: 'next' | 'park' | 'end'): Promise<void> {
    const report = this.#report({ withStep: kind !== 'end' || this.#rng.chance(0.5) })
    const { opcodes, ...rest } = bodyOf(report)
    const naps = opcodes.map(({ id, name }) => ({ id, name, op: 'Sleep', sleepMs: this.#rng.int(1, NAP_MS) }))
    await this.#record(`${kind}: ${JSON.stringify(report)}`, async () => {
      const { lives } = this.#engine
      if (kind === 'end') pass.answer(200, { data: 1, logs: [], ...rest })
      else pass.answer(206, { opcodes: kind === 'park' ? naps : opcodes, logs: [], ...rest })
      await this.#engine.settle()
      const isAlive = this.#engine.lives === lives
      await this.#taken(kind === 'end' ? withoutStep(report) : report, isAlive, kind === 'end')
      if (isAlive && kind !== 'next') await this.#checkNothingWaits()
      if (isAlive && kind === 'park') this.#counts.parks++
    })
    const { status } = await this.#run()
    if (!isTerminal(status)) return
    this.#counts.ends++
    await this.#start()
  }

  /** Handles a report that the engine took. If the engine died meanwhile, the run's steps or its end show whether it did. */
  async #taken(report: Report, isCertain: boolean, isEnd = false): Promise<void> {
    const { steps, status } = await this.#run()
    const isStored = isEnd ? isTerminal(status) : report.step !== undefined && steps.has(report.step)
    if (isCertain && report.step !== undefined)
      ensure(isStored, 'a report that was taken is stored', () => report.step as string)
    if (!isCertain) this.#counts.lost++
    if (!isCertain && !isStored) return
    for (const [key, value] of Object.entries(report.attributes ?? {})) {
      if (value === null) delete this.#attributes[key]
      else this.#attributes[key] = value
    }
    if (isCertain && report.progress !== undefined) this.#newest = report.progress
  }

  /** A finished pass that parks or ends its run leaves no unstored progress behind. */
  async #checkNothingWaits(): Promise<void> {
    const { progress } = await this.#run()
    ensure(
      progress === this.#newest,
      'no progress is lost',
      () => `${this.#newest} was reported, ${progress} is stored`,
    )
  }

  async #time(ms: number): Promise<void> {
    const pass = this.#engine.waiting.of(this.#runId)
    const isCheckpointed = pass !== undefined && this.#checkpoints.has(pass)
    const { lives } = this.#engine
    const { progress } = await this.#run()
    await this.#record(`pass ${ms}`, () => this.#engine.pass(ms))
    const isSame = pass !== undefined && this.#engine.waiting.has(pass) && this.#engine.lives === lives
    if (ms < EVERY_MS || !isSame || !isCheckpointed) return
    await this.#checkNothingWaits()
    if (progress !== this.#newest) this.#counts.waited++
  }

  #setClock(by: number): Promise<void> {
    this.#counts.clocks++
    return this.#record(`the clock is set by ${by}`, async () => {
      this.#engine.wall.set(by)
      // The new clock does not know the time of the last value.
      this.#wasSetBack = true
      // The engine notices, and continues the run if its lease seems to have expired.
      await this.#engine.pass(TAKEN_UP_MS)
    })
  }

  async #record(what: string, action: () => Promise<void>): Promise<void> {
    this.transcript.push(`${this.#engine.clock.now() % 1e8}: ${what}`)
    const { lives } = this.#engine
    await action()
    await this.#engine.settle()
    expect(this.#engine.errors).toEqual([])
    expect(this.#early, 'values that were written too soon').toEqual([])
    const { progress, attributes } = await this.#run()
    // A waiting progress value died with its engine.
    if (this.#engine.lives !== lives) {
      this.#newest = progress
      if (progress !== this.#written) this.#writtenAt = Number.NEGATIVE_INFINITY
    }
    this.#look(progress)
    expect(attributes).toEqual(this.#attributes)
    await this.#checkLists()
  }

  #look(progress: number | undefined): void {
    const [before, after] = [this.#stored ?? 0, progress ?? 0]
    ensure(progress === undefined || this.#values.has(progress), 'a progress was reported', () => `${progress}`)
    ensure(after >= before, 'the newest progress wins', () => `${before}, then ${after}`)
    if (after > before) this.#counts.stored++
    this.#stored = progress
  }

  /** Checks that lists find the run by each attribute that it has, and not by an earlier value. */
  async #checkLists(): Promise<void> {
    const reads = this.#engine.store.in('default')
    for (const key of ['last', ...KEYS]) {
      for (const value of new Set([this.#attributes[key] ?? 1, this.#reported, Math.max(1, this.#reported - 1)])) {
        const found = await reads.runs({ attribute: [`${key}:${value}`], limit: 2 })
        const expected = this.#attributes[key] === value ? [this.#runId] : []
        expect(
          found.filter(({ id }) => id === this.#runId).map(({ id }) => id),
          `${key}:${value}`,
        ).toEqual(expected)
      }
    }
  }

  async #run() {
    const { store } = this.#engine
    const run = await store.in('default').run(this.#runId)
    const loaded = await store.loadRun(this.#runId)
    return {
      status: run?.status ?? 'queued',
      progress: run?.progress && Number(run.progress.value),
      attributes: (run?.attributes ?? {}) as Record<string, unknown>,
      steps: new Set(loaded?.steps.map(({ name }) => name)),
    }
  }
}

function withoutStep({ step: _, ...report }: Report): Report {
  return report
}

function bodyOf({ step, attributes, progress }: Report) {
  const opcodes = step === undefined ? [] : [{ id: stepId(step), name: step, op: 'StepRun', data: 1 }]
  return { opcodes, ...(attributes && { attributes }), ...(progress !== undefined && { progress }) }
}
