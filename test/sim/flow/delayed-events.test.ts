// Events sent for later, over random histories with crashes between any two writes, two engines on one store, and wall clocks
// that are set. Each event arrives once and not before its time, or is deleted. `PERDURE_SEEDS=1000` plays more of them,
// `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect, it } from 'vitest'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { FlowRow } from '../../../packages/engine/src/domain/model/flow-row.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import { CrashingEngine, type Tamper } from './crashing-engine.ts'
import { Model, type Sent } from './delayed-events-model.ts'
import { expectNoticed, type History, type Planted, playOn } from './histories.ts'

const SEEDS = seedsOf(12)
const ACTIONS = 25
const EVENT = 'later'
const DELAYS_MS = [1, 500, 1000, 5000, 20_000, 60_000]
/** Longer than any delay, plus a lease of a timer and the longest sleep of a lane. */
const QUIET_MS = 120_000
/** An engine notices within this time that its wall clock was set. */
const CLOCK_NOTICED_MS = 6000
/** Within this time, an engine finds a timer without a notification, even a timer whose engine died. */
const LATE_MS_MAX = 45_000

/** Each mode has one difficulty. Two engines cannot have clocks that are set, because the store's times move with one of them. */
const MODES = ['one engine', 'two engines', 'set clock'] as const

type Counts = Record<'arrived' | 'deleted' | 'races' | 'unanswered' | 'late' | 'clocks', number>

it(`each arrives once or is deleted in ${SEEDS.length} histories`, {
  timeout: 180_000 + SEEDS.length * 1000,
}, async () => {
  const counts: Counts = { arrived: 0, deleted: 0, races: 0, unanswered: 0, late: 0, clocks: 0 }
  for (const seed of SEEDS) await play(seed, counts)
  console.info(`${SEEDS.length} histories`, counts)
  if (isOneSeed) return
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(SEEDS.length / 12)
})

const records = ({ changes }: Unit) => changes.some(({ type }) => type === 'event.recorded')
const deletes = ({ changes }: Unit) => changes.some(({ type }) => type === 'flow.deleted')
const withoutFlowGuards = ({ guards, changes }: Unit): Unit => ({
  guards: guards.filter(({ type }) => type !== 'flow'),
  changes,
})
const earlier = (row: FlowRow): FlowRow => {
  const at = (row.dueAt as number) - 100
  return { ...row, availableAt: at, dueAt: at }
}
const PLANTED: readonly Planted[] = [
  {
    name: 'the row stays when the event arrives',
    tamper: unit => [
      records(unit) ? { ...unit, changes: unit.changes.filter(({ type }) => type !== 'flow.deleted') } : unit,
    ],
  },
  {
    name: 'the row goes in a commit before the arrival',
    from: 5,
    tamper: unit => {
      if (!records(unit) || !deletes(unit)) return [unit]
      const isRow = ({ type }: { type: string }) => type === 'flow.deleted'
      const guards = unit.guards.filter(({ type }) => type !== 'flow')
      return [
        { guards: unit.guards, changes: unit.changes.filter(isRow) },
        { guards, changes: unit.changes.filter(change => !isRow(change)) },
      ]
    },
  },
  {
    name: 'an arrival overlooks a deletion',
    from: 21,
    tamper: unit => [records(unit) ? withoutFlowGuards(unit) : unit],
  },
  { name: 'a deletion overlooks an arrival', tamper: unit => [records(unit) ? unit : withoutFlowGuards(unit)] },
  {
    name: 'a row is due too early',
    tamper: ({ guards, changes }) => [
      {
        guards,
        changes: changes.map(change =>
          change.type === 'flow.saved' ? { ...change, row: earlier(change.row) } : change,
        ),
      },
    ],
  },
  {
    name: 'the dedupe id is not claimed',
    from: 7,
    tamper: ({ guards, changes }) => [{ guards, changes: changes.filter(({ type }) => type !== 'dedupe.claimed') }],
  },
]

it('waits for its time if the clock is set back while its timer is claimed', async () => {
  const engine = await CrashingEngine.open({ turns: () => 20 })
  const log = async () => (await engine.store.in('default').events({ limit: 2, name: EVENT })).map(({ event }) => event)
  const at = engine.clock.now() + 500
  await engine.request('POST', '/events', { name: EVENT, at: new Date(at).toISOString() })
  let other: Promise<unknown> | undefined
  engine.onCall = name => {
    if (name !== 'claimTimers' || other || engine.clock.now() < at) return
    engine.wall.set(-60_000)
    // The engine reads its clock and notices.
    other = engine.request('POST', '/events', { name: 'other' })
  }
  await engine.pass(500)
  await other
  await engine.pass(59_000)
  expect(await log()).toEqual([])
  await engine.pass(LATE_MS_MAX)
  expect((await log()).map(({ receivedAt }) => receivedAt >= at)).toEqual([true])
  await engine.close()
})

it.each(PLANTED)('notices $name', bug => expectNoticed(bug, seed => play(seed, undefined, bug.tamper)))

async function play(seed: number, counts?: Counts, tamper?: Tamper): Promise<void> {
  const rng = new Rng(seed, 'delayed events')
  const turns = rng.fork('turns')
  const options = { tamper, turns: () => (turns.chance(0.3) ? turns.int(1, 30) : 0) }
  const mode = MODES[seed % MODES.length] as (typeof MODES)[number]
  const engines = [await CrashingEngine.open(options)]
  if (mode === 'two engines') engines.push(await CrashingEngine.open({ ...options, beside: engines[0] }))
  const history = new DelayHistory(engines, rng, mode)
  await playOn(engines, seed, history)
  history.count(counts)
}

class DelayHistory implements History {
  readonly transcript: string[] = []
  readonly #engines: readonly CrashingEngine[]
  readonly #first: CrashingEngine
  readonly #rng: Rng
  readonly #mode: (typeof MODES)[number]
  readonly #model = new Model()
  readonly #beganAt: number
  /** The times without an engine: from, until. */
  readonly #downs: [number, number][] = []
  #arrivals: { n: number; receivedAt: number }[] = []
  #counts = { races: 0, unanswered: 0, clocks: 0 }

  constructor(engines: readonly CrashingEngine[], rng: Rng, mode: (typeof MODES)[number]) {
    this.#engines = [...engines]
    this.#first = engines[0] as CrashingEngine
    this.#rng = rng
    this.#mode = mode
    this.#beganAt = this.#first.clock.now()
  }

  async play(): Promise<void> {
    for (let i = 0; i < ACTIONS; i++) await this.#act()
    for (const engine of this.#engines) engine.spare()
    await this.#pass(QUIET_MS)
    const open = this.#model.open.filter(({ mayBeDeleted, at }) => !mayBeDeleted && at <= this.#now())
    expect(open, 'events that neither arrived nor were deleted').toEqual([])
    if (this.#mode !== 'set clock') this.#checkTimes()
  }

  async #act(): Promise<void> {
    const rng = this.#rng
    const clockSet = this.#mode === 'set clock' ? 1.5 : 0
    const kind = rng.weighted({ send: 6, pass: 4, race: 3, remove: 1, crash: 0.7, crashLater: 3, down: 1.2, clockSet })
    const engine = rng.pick(this.#engines)
    if (kind === 'send') await this.#send()
    else if (kind === 'pass') await this.#pass(rng.pick([100, 1000, 7000, 40_000]))
    else if (kind === 'race') await this.#remove(true)
    else if (kind === 'remove') await this.#remove(false)
    else if (kind === 'crash') await this.#record('crash', () => engine.crash())
    else if (kind === 'down') await this.#down(engine, rng.pick([500, 20_000]))
    else if (kind === 'clockSet') await this.#setClock(rng.int(-3_600_000, 3_600_000))
    else await this.#crashLater(engine, 6)
  }

  #crashLater(engine: CrashingEngine, writesMax: number): Promise<void> {
    const [n, before] = [this.#rng.int(1, writesMax), this.#rng.chance(0.5)]
    return this.#record(`crash at write ${n}, before ${before}`, async () => engine.crashAtWrite(n, before))
  }

  /** The time that the machines show. */
  #now(): number {
    return this.#first.clock.now() + this.#first.wall.aheadMs
  }

  /** A client that repeats its post, at any engine, until it is answered. */
  async #send(): Promise<void> {
    const rng = this.#rng
    const now = this.#now()
    const delay = rng.pick(DELAYS_MS)
    const at = rng.chance(0.1) ? now - delay : now + delay
    const when = rng.chance(0.5) ? { at: new Date(at).toISOString() } : { delay: Math.max(0, at - now) }
    const n = this.#model.sent.length
    const body = { name: EVENT, data: { n }, dedupeId: `once ${n}`, ...when }
    await this.#record(`send ${JSON.stringify(body)}`, async () => {
      let answer: Awaited<ReturnType<CrashingEngine['request']>>
      do answer = await rng.pick(this.#engines).request('POST', '/events', body)
      while (answer === undefined)
      expect(answer.status, JSON.stringify(answer)).toBe(202)
      this.#model.add(Math.max(at, now), answer.body.eventId)
    })
  }

  /** Lets one to three clients delete an event, now or when its timer is claimed. */
  async #remove(atItsTime: boolean): Promise<void> {
    const rng = this.#rng
    const known = this.#model.open.filter(({ id }) => id !== undefined)
    if (known.length === 0) return
    const sent = rng.pick(known)
    const engines = Array.from({ length: rng.int(1, 3) }, () => rng.pick(this.#engines))
    if (rng.chance(0.4)) await this.#crashLater(rng.pick(engines), 3)
    const ms = atItsTime ? Math.max(1, sent.at - this.#now()) : 0
    await this.#record(`delete ${sent.n} in ${ms}, ${engines.length} times`, async () => {
      const due = ms === 0 ? Promise.resolve() : this.#claimAfter(ms)
      const answers = engines.map(engine => due.then(() => engine.request('DELETE', `/scheduled-events/${sent.id}`)))
      await this.#first.pass(ms)
      await this.#deleted(sent, await Promise.all(answers))
    })
    this.#counts.races++
  }

  /** Resolves when an engine claims timers `ms` from now, or at the end of that moment. */
  #claimAfter(ms: number): Promise<void> {
    const { clock } = this.#first
    const at = clock.now() + ms
    return new Promise(resolve => {
      for (const engine of this.#engines)
        engine.onCall = name => {
          if (name === 'claimTimers' && clock.now() >= at) resolve()
        }
      clock.after(ms, resolve)
    })
  }

  async #deleted(sent: Sent, answers: Awaited<ReturnType<CrashingEngine['request']>>[]): Promise<void> {
    const statuses = answers.map(answer => answer?.status)
    this.transcript.push(`answered ${statuses}`)
    for (const status of statuses) expect([204, 404, undefined]).toContain(status)
    this.#counts.unanswered += statuses.filter(status => status === undefined).length
    this.#model.deleted(sent, statuses)
  }

  #pass(ms: number): Promise<void> {
    return this.#record(`pass ${ms}`, () => this.#first.pass(ms))
  }

  async #down(engine: CrashingEngine, ms: number): Promise<void> {
    const now = this.#now()
    this.#downs.push([now, now + ms])
    await this.#record(`down ${ms}`, () => engine.down(ms))
  }

  async #setClock(by: number): Promise<void> {
    await this.#record(`the clock is set by ${by}`, async () => {
      // Until the engine notices, it uses the old time.
      await this.#look(CLOCK_NOTICED_MS)
      this.#first.wall.set(by)
      await this.#first.pass(CLOCK_NOTICED_MS)
      await this.#look(Math.max(0, -by))
    })
    this.#counts.clocks++
  }

  async #record(what: string, action: () => Promise<void>): Promise<void> {
    this.transcript.push(`${this.#now() - this.#beganAt}: ${what}`)
    await action()
    for (const engine of this.#engines) await engine.settle()
    await this.#look()
  }

  /** Shows the model the contents of the store. `aheadMs`: how far an engine's time may be ahead of the machines. */
  async #look(aheadMs = 0): Promise<void> {
    const reads = this.#first.store.in('default')
    const [records, rows, actions] = await Promise.all([
      reads.events({ limit: 1000 }),
      reads.scheduledEvents({ limit: 1000 }),
      reads.controlActions({ limit: 1000 }),
    ])
    const log = records.map(({ event: { id, data, receivedAt } }) => ({ id, n: numberOf(data), receivedAt }))
    const listed = rows.map(({ key, state }) => ({ id: key, n: numberOf(JSON.stringify(JSON.parse(state).data)) }))
    const deletions = actions.map(({ detail }) => JSON.parse(detail as string).id as string)
    this.#arrivals = log
    this.#model.look({ log, listed, deletions, latest: this.#now() + aheadMs })
    for (const { errors } of this.#engines) expect(errors).toEqual([])
  }

  /** Checks arrival times. With a single engine, events arrive exactly at their time or when the engine starts again. */
  #checkTimes(): void {
    for (const { n, receivedAt } of this.#arrivals) {
      const { at } = this.#model.sent[n] as Sent
      const isExact = this.#mode === 'one engine'
      const due = isExact ? this.#up(at) : at + LATE_MS_MAX
      if (isExact) expect(receivedAt, `event ${n}`).toBe(due)
      else expect(receivedAt, `event ${n}`).toBeLessThanOrEqual(due)
    }
  }

  /** That moment, or the first later moment with an engine. */
  #up(at: number): number {
    let up = at
    for (const [from, until] of this.#downs) if (from < up && up <= until) up = until
    return up
  }

  count(counts: Counts | undefined): void {
    if (!counts) return
    const { sent } = this.#model
    counts.arrived += this.#arrivals.length
    counts.deleted += sent.filter(({ isDeleted }) => isDeleted).length
    counts.late += this.#arrivals.filter(({ n, receivedAt }) => receivedAt > (sent[n] as Sent).at).length
    for (const [what, count] of Object.entries(this.#counts)) counts[what as keyof Counts] += count
  }
}

function numberOf(data: string | undefined): number {
  return JSON.parse(data as string).n
}
