// Schedules of the API over random histories with crashes between any two writes, engines that are away, pauses and changes:
// every instant sends its event once, as in a reference model. `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n`
// only that one; a failure names its seed.

import { expect, it } from 'vitest'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import type { CrashingEngine } from './crashing-engine.ts'
import { type History, playHistory } from './histories.ts'

const SEEDS = seedsOf(15)
const ACTIONS = 25
/** The contract of `catchUp: 'none'`: an instant that is later than this does not fire. */
const LATE_MS_MAX = 60_000
/** A cron that fires every 20 s, and intervals. The model knows their instants without an expression. */
const CRON = { cron: '*/20 * * * * *', everyMs: 20_000 }

it(`each instant counts once in ${SEEDS.length} histories`, { timeout: 180_000 + SEEDS.length * 1000 }, async () => {
  const seen = { events: 0, late: 0, missed: 0, changes: 0, fired: 0 }
  for (const seed of SEEDS)
    await playHistory(seed, engine => new ScheduleHistory(engine, new Rng(seed, 'schedules'), seen))
  console.info(`${SEEDS.length} histories`, seen)
  if (isOneSeed) return
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(SEEDS.length / 3)
})

type Seen = Record<'events' | 'late' | 'missed' | 'changes' | 'fired', number>
type CatchUp = 'one' | 'all' | 'none'

/** A schedule in the model, and the instants that it expects, with the times at which they fire. */
class Model {
  readonly id: string
  readonly catchUp: CatchUp
  readonly everyMs: number
  readonly body: object
  readonly expected: { instant: number; firedAt: number }[] = []
  missed = 0
  /** Unknown for an interval before its creation. */
  #anchor: number
  #nextAt: number | undefined
  #isPaused = false

  constructor(rng: Rng, n: number, catchUp: CatchUp) {
    const isCron = rng.chance(0.3)
    this.id = `schedule-${n}`
    this.catchUp = catchUp
    this.everyMs = isCron ? CRON.everyMs : rng.pick([5000, 30_000, 90_000])
    const when = isCron ? { cron: CRON.cron } : { every: this.everyMs }
    this.body = { ...when, catchUp, event: { name: this.id, data: { n } } }
    this.#anchor = isCron ? 0 : Number.NaN
  }

  /** The schedule was created, or put again. When put again, it keeps its instants and its pause. */
  put(now: number): void {
    if (Number.isNaN(this.#anchor)) this.#anchor = now
    if (!this.#isPaused) this.#nextAt ??= this.#after(now)
  }

  pause(): void {
    this.#isPaused = true
    this.#nextAt = undefined
  }

  resume(now: number): void {
    this.#isPaused = false
    this.#nextAt ??= this.#after(now)
  }

  /** An engine is up again at `now`: the instants that have come due fire. */
  runAt(now: number): void {
    const due: number[] = []
    while (this.#nextAt !== undefined && this.#nextAt <= now) {
      due.push(this.#nextAt)
      this.#nextAt += this.everyMs
    }
    const newest = due.at(-1)
    if (newest === undefined) return
    const fires = this.catchUp === 'all' ? due : this.catchUp === 'none' && now - newest > LATE_MS_MAX ? [] : [newest]
    this.missed += due.length - fires.length
    this.expected.push(...fires.map(instant => ({ instant, firedAt: now })))
  }

  /** While an engine is running, every instant fires on time. */
  runTo(now: number): void {
    while (this.#nextAt !== undefined && this.#nextAt <= now) this.runAt(this.#nextAt)
  }

  #after(time: number): number {
    return this.#anchor + (Math.floor((time - this.#anchor) / this.everyMs) + 1) * this.everyMs
  }
}

class ScheduleHistory implements History {
  readonly transcript: string[] = []
  readonly #engine: CrashingEngine
  readonly #rng: Rng
  readonly #models: Model[]
  readonly #beganAt: number
  #fired = 0
  #changes = 0
  readonly #seen: Seen

  constructor(engine: CrashingEngine, rng: Rng, seen: Seen) {
    this.#seen = seen
    this.#engine = engine
    this.#rng = rng
    this.#models = (['one', 'all', 'none'] as const).map((catchUp, n) => new Model(rng, n, catchUp))
    this.#beganAt = engine.clock.now()
  }

  async play(): Promise<void> {
    for (const model of this.#models) await this.#put(model)
    for (let i = 0; i < ACTIONS; i++) await this.#act()
    this.#engine.spare()
    await this.#pass(200)
    await this.#check()
  }

  async #act(): Promise<void> {
    const rng = this.#rng
    const kind = rng.weighted({ pass: 6, put: 1, pause: 0.7, resume: 1, fire: 0.7, crash: 0.7, crashLater: 3, down: 1 })
    const model = rng.pick(this.#models)
    if (kind === 'pass') await this.#pass(rng.pick([100, 1000, 7000, 40_000]))
    else if (kind === 'crash') await this.#record('crash', () => this.#engine.crash())
    else if (kind === 'down') await this.#down(rng.pick([500, 20_000, 59_000, 130_000]))
    else if (kind === 'put') await this.#put(model)
    else if (kind === 'crashLater') {
      const [n, before] = [rng.int(1, 6), rng.chance(0.5)]
      await this.#record(`crash at write ${n}, before ${before}`, async () => this.#engine.crashAtWrite(n, before))
    } else if (kind === 'fire') {
      // A client does not repeat this request, because each repeat fires. The engine does not die meanwhile.
      this.#engine.spare()
      await this.#ask(`fire ${model.id}`, 'POST', `/schedules/${model.id}/fire`)
      this.#fired++
    } else {
      await this.#ask(`${kind} ${model.id}`, 'POST', `/schedules/${model.id}/${kind}`)
      if (kind === 'pause') model.pause()
      else model.resume(this.#engine.clock.now())
      this.#changes++
    }
  }

  async #put(model: Model): Promise<void> {
    await this.#ask(`put ${JSON.stringify(model.body)}`, 'PUT', `/schedules/${model.id}`, model.body)
    model.put(this.#engine.clock.now())
  }

  /** Sends a request repeatedly until it is answered, like a client. */
  #ask(what: string, method: 'POST' | 'PUT', url: string, body?: unknown): Promise<void> {
    return this.#record(what, async () => {
      let answer: Awaited<ReturnType<CrashingEngine['request']>>
      do answer = await this.#engine.request(method, url, body)
      while (answer === undefined)
      // Resuming changes nothing for an active schedule, or if the first answer was lost in a crash.
      if (url.endsWith('/resume') && answer.status === 409) return
      expect(answer.status, JSON.stringify(answer)).toBeLessThan(300)
    })
  }

  #pass(ms: number): Promise<void> {
    return this.#record(`pass ${ms}`, async () => {
      await this.#engine.pass(ms)
      for (const model of this.#models) model.runTo(this.#engine.clock.now())
    })
  }

  #down(ms: number): Promise<void> {
    return this.#record(`down ${ms}`, async () => {
      await this.#engine.down(ms)
      for (const model of this.#models) model.runAt(this.#engine.clock.now())
    })
  }

  async #record(what: string, action: () => Promise<void>): Promise<void> {
    this.transcript.push(`${this.#engine.clock.now() - this.#beganAt}: ${what}`)
    await action()
  }

  async #check(): Promise<void> {
    const { store, errors } = this.#engine
    const seen = this.#seen
    expect(errors).toEqual([])
    const records = (await store.in('default').events({ limit: 10_000 })).map(({ event }) => event).reverse()
    for (const model of this.#models) {
      const own = records.filter(({ name }) => name === model.id)
      // An event that was fired by hand has that moment as its instant. The model does not expect it.
      const scheduled = own.map(({ scheduledAt, receivedAt }) => ({ instant: scheduledAt, firedAt: receivedAt }))
      const byHand = scheduled.filter(({ instant, firedAt }) => instant === firedAt)
      const sorted = (of: typeof scheduled) => of.map(event => JSON.stringify(event)).sort()
      const expected = sorted(model.expected)
      const found = sorted(scheduled)
      for (const event of expected) {
        const at = found.indexOf(event)
        expect(at, `${model.id} (${model.catchUp}) has ${event} among ${found.join(' ')}`).not.toBe(-1)
        found.splice(at, 1)
      }
      for (const event of found) expect(sorted(byHand), `${model.id} sent ${event} unexpectedly`).toContain(event)
      seen.fired += found.length
      seen.events += model.expected.length
      seen.missed += model.missed
      seen.late += model.expected.filter(({ instant, firedAt }) => firedAt > instant).length
    }
    seen.changes += this.#changes
    const total = this.#models.reduce((sum, { expected }) => sum + expected.length, 0)
    expect(records.length).toBe(total + this.#fired)
  }
}
