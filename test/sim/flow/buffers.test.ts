// Debounce, batch and cron over random histories with crashes between any two writes: the runs of events and cron instants must
// match a reference model. `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that
// one; a failure names its seed.

import { expect, it } from 'vitest'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import { type Logged, type Rule, runsOf } from './buffers-model.ts'
import type { CrashingEngine } from './crashing-engine.ts'
import { type History, playHistory } from './histories.ts'

const SEEDS = seedsOf(30)
const ACTIONS = 25
const EVENT = 'thing.happened'
/** After this time without events, every buffer has ended. */
const QUIET_MS = 12_000
const CRON = '*/3 * * * * *'
const CRON_MS = 3000

it(`is as the model says in ${SEEDS.length} histories`, {
  timeout: 180_000 + SEEDS.length * 1000,
}, async () => {
  const seen = { runs: 0, filled: 0, late: 0, emitted: 0, crons: 0, missed: 0 }
  for (const seed of SEEDS) await playHistory(seed, engine => new BufferHistory(engine, new Rng(seed, 'buffers'), seen))
  console.info(`${SEEDS.length} histories`, seen)
  if (isOneSeed) return
  // Everything that the histories should show has happened.
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(SEEDS.length / 3)
})

/** Counts what happened, to notice histories in which nothing happens. */
type Seen = Record<'runs' | 'filled' | 'late' | 'emitted' | 'crons' | 'missed', number>

class BufferHistory implements History {
  readonly transcript: string[] = []
  readonly #engine: CrashingEngine
  readonly #rng: Rng
  readonly #rules: Rule[]
  /** The times without an engine: from, until. */
  readonly #downs: [number, number][] = []
  readonly #beganAt: number
  #posted = 0
  #emitted = 0
  #isOver = false
  readonly #seen: Seen

  constructor(engine: CrashingEngine, rng: Rng, seen: Seen) {
    this.#engine = engine
    this.#rng = rng
    this.#seen = seen
    this.#rules = rulesOf(rng)
    this.#beganAt = engine.clock.now()
  }

  async play(): Promise<void> {
    await this.#register()
    for (let i = 0; i < ACTIONS; i++) await this.#act()
    this.#engine.spare()
    this.#isOver = true
    await this.#pass(QUIET_MS)
    await this.#check()
  }

  async #act(): Promise<void> {
    const rng = this.#rng
    const kind = rng.weighted({
      post: 6,
      burst: 2,
      pass: 5,
      heartbeat: 0.5,
      crash: 0.7,
      crashLater: 2.5,
      down: 0.7,
    })
    if (kind === 'post') await this.#post()
    else if (kind === 'burst') await Promise.all([this.#post(), this.#post(), this.#post(), this.#post()])
    else if (kind === 'pass') await this.#pass(rng.pick([100, 500, 1000, 2000, 4000, 7000]))
    else if (kind === 'heartbeat') await this.#register()
    else if (kind === 'crash') await this.#record('crash', () => this.#engine.crash())
    else if (kind === 'down') await this.#down(rng.pick([100, 3000, 20_000]))
    else {
      const [n, before] = [rng.int(1, 6), rng.chance(0.5)]
      await this.#record(`crash at write ${n}, before ${before}`, async () => this.#engine.crashAtWrite(n, before))
    }
  }

  async #down(ms: number): Promise<void> {
    const now = this.#engine.clock.now()
    this.#downs.push([now, now + ms])
    await this.#record(`down ${ms}`, () => this.#engine.down(ms))
  }

  /** An event of a client that repeats unanswered posts. */
  async #post(): Promise<void> {
    const n = ++this.#posted
    const data = { n, ...this.#key() }
    const event = { name: EVENT, data, dedupeId: `once ${n}` }
    await this.#record(`post ${JSON.stringify(data)}`, async () => {
      let answer: Awaited<ReturnType<CrashingEngine['request']>>
      do answer = await this.#engine.request('POST', '/events', event)
      while (answer === undefined)
      expect(answer.status).toBe(202)
    })
  }

  /** Without a key, a batch uses the key '', and a debounce does not apply. */
  #key(): { key?: string } {
    return this.#rng.chance(0.85) ? { key: this.#rng.pick(['a', 'b']) } : {}
  }

  async #register(): Promise<void> {
    const workflows = [
      ...this.#rules.map(({ name, keyed, debounce, batch }) => {
        const key = keyed ? { key: 'event.data.key' } : {}
        const policies = {
          ...(debounce ? { debounce: { ...debounce, ...key } } : {}),
          ...(batch ? { batch: { ...batch, ...key } } : {}),
        }
        return { name, triggers: [{ event: EVENT }], ...policies }
      }),
      { name: 'cron', triggers: [{ cron: CRON }] },
    ]
    const body = { app: 'shop', runner: 'r', url: 'http://r.test', workflows }
    await this.#record('register', async () => {
      while ((await this.#engine.request('POST', '/register', body)) === undefined);
    })
  }

  #pass(ms: number): Promise<void> {
    return this.#record(`pass ${ms}`, async () => {
      await this.#engine.pass(ms)
      for (const pass of [...this.#engine.waiting]) this.#answer(pass)
      await this.#engine.settle()
    })
  }

  /** Most runs just return; a few emit first, several events in one pass. */
  #answer(pass: WaitingPass): void {
    const emits =
      !this.#isOver && Object.keys(pass.memo).length === 0 && this.#rng.chance(0.1) ? this.#rng.int(1, 3) : 0
    if (emits === 0) {
      pass.answer(200, { data: null, logs: [] })
      return
    }
    const opcodes = Array.from({ length: emits }, (_, i) => {
      const data = { n: -++this.#emitted, ...this.#key() }
      return { op: 'Emit', id: `${i}`.padStart(40, '0'), name: `emit ${i}`, eventName: EVENT, data }
    })
    this.transcript.push(`emits ${JSON.stringify(opcodes.map(({ data }) => data))}`)
    pass.answer(206, { opcodes, logs: [] })
  }

  async #record(what: string, action: () => Promise<void>): Promise<void> {
    this.transcript.push(`${this.#engine.clock.now() - this.#beganAt}: ${what}`)
    await action()
  }

  async #check(): Promise<void> {
    const { store, errors, clock } = this.#engine
    const seen = this.#seen
    expect(errors).toEqual([])
    const reads = store.in('default')
    const listed = await reads.runs({ limit: 2000, sort: 'started', dir: 'asc' })
    const runs = await Promise.all(listed.map(async ({ id }) => (await store.loadRun(id))?.run as Run))
    const records = (await reads.events({ limit: 2000 })).map(({ event }) => event).reverse()
    const events = records.map(
      ({ id, receivedAt, data }): Logged => ({ id, at: receivedAt, data: JSON.parse(data as string) }),
    )
    const numbers = events.map(({ data }) => data.n)
    expect(numbers.filter(n => n > 0).sort((a, b) => a - b)).toEqual(
      Array.from({ length: this.#posted }, (_, i) => i + 1),
    )
    expect(new Set(numbers).size).toBe(numbers.length)
    seen.emitted += numbers.filter(n => n < 0).length
    for (const rule of this.#rules) {
      const own = runs.filter(({ workflow }) => workflow === rule.name)
      const expected = runsOf(rule, events)
      const signOf = (input: unknown, eventId?: string) => JSON.stringify({ input, eventId })
      const found = new Map(own.map(run => [signOf(JSON.parse(run.input as string), run.eventId), run]))
      expect([...found.keys()].sort(), rule.name).toEqual(
        expected.map(({ input, eventId }) => signOf(input, eventId)).sort(),
      )
      expect(own).toHaveLength(expected.length)
      for (const { input, eventId, eventIds, at, by } of expected) {
        const run = found.get(signOf(input, eventId)) as Run
        expect(run.eventIds).toEqual(eventIds)
        expect(run.createdAt).toBe(this.#up(at))
        if (run.createdAt > at) seen.late++
        const record = records.find(({ id }) => id === by)
        if (!record) continue
        seen.filled++
        const flags = rule.batch ? { batched: true, firstEventId: eventIds[0] } : {}
        expect(record.triggered).toContainEqual({ workflow: rule.name, app: 'shop', ...flags, runId: run.id })
      }
      seen.runs += own.length
    }
    this.#checkCron(runs.filter(({ workflow }) => workflow === 'cron'))
    expect(await store.nextAvailableAt('timers')).toBeGreaterThan(clock.now())
  }

  /** Checks that every instant has its run. Of the instants without an engine, only the latest has one. */
  #checkCron(runs: readonly Run[]): void {
    const expected = new Map<number, number>()
    const until = this.#engine.clock.now()
    for (let at = (Math.floor(this.#beganAt / CRON_MS) + 1) * CRON_MS; at <= until; at += CRON_MS) {
      const createdAt = this.#up(at)
      if (expected.has(createdAt)) this.#seen.missed++
      expected.set(createdAt, at)
    }
    const found = runs.map(({ input, createdAt }) => [createdAt, Date.parse(JSON.parse(input as string).scheduledAt)])
    expect(found).toEqual([...expected])
    this.#seen.crons += found.length
  }

  /** That moment, or the first later moment with an engine. */
  #up(at: number): number {
    let up = at
    for (const [from, until] of this.#downs) if (from < up && up <= until) up = until
    return up
  }
}

function rulesOf(rng: Rng): Rule[] {
  const second = () => rng.pick([500, 1000, 2000, 3000])
  const timeout = () => (rng.chance(0.5) ? {} : { timeout: rng.pick([2000, 5000]) })
  const batch = () => ({ maxSize: rng.int(1, 5), timeout: rng.pick([1000, 3000, 8000]) })
  return [
    { name: 'last', keyed: rng.chance(0.5), debounce: { period: second(), ...timeout(), mode: 'last' } },
    { name: 'first', keyed: rng.chance(0.5), debounce: { period: second(), ...timeout(), mode: 'first' } },
    { name: 'all', keyed: rng.chance(0.5), debounce: { period: second(), ...timeout(), mode: 'all' } },
    { name: 'batch', keyed: false, batch: batch() },
    { name: 'batches', keyed: true, batch: batch() },
  ]
}
