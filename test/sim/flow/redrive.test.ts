// Redrive over random histories with crashes between any two writes and two engines on one store. In bulk, each event starts a
// workflow at most once, however often calls are repeated. The single form always starts a run. `PERDURE_SEEDS=1000` plays
// more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect, it } from 'vitest'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import { CrashingEngine, type Tamper } from './crashing-engine.ts'
import { expectNoticed, type History, type Planted, playOn } from './histories.ts'
import { type Counts, checkCalls, type Single, type Starts } from './redrive-model.ts'

const SEEDS = seedsOf(9)
const ACTIONS = 12
const EVENT = 'order'
/** Every third event starts one of the workflows when it arrives; no event starts the other. */
const WORKFLOWS = ['bill', 'audit'] as const
type Workflow = (typeof WORKFLOWS)[number]
const TRIGGERED_EVERY = 3

const noneShown = () => ({ bulk: 0, single: 0, triggered: 0, unanswered: 0, skipped: 0, partly: 0 })
type Shown = ReturnType<typeof noneShown>

it(`each pair starts once in ${SEEDS.length} histories`, { timeout: 180_000 + SEEDS.length * 2000 }, async () => {
  const shown = noneShown()
  for (const seed of SEEDS) await play(seed, shown)
  console.info(`${SEEDS.length} histories`, shown)
  if (isOneSeed) return
  for (const [what, count] of Object.entries(shown)) expect(count, what).toBeGreaterThan(SEEDS.length / 3)
})

/** The single form's audit entry names its event. */
const isSingle = ({ changes }: Unit) =>
  changes.some(change => change.type === 'control.recorded' && change.action.detail?.includes('"eventId"'))
const PLANTED: readonly Planted[] = [
  {
    name: 'the guard of a pair is left out',
    tamper: ({ guards, changes }) => [{ guards: guards.filter(({ type }) => type !== 'unstarted'), changes }],
  },
  {
    name: 'the single form starts a run only once',
    tamper: unit => {
      const created = unit.changes.find(change => change.type === 'run.created')
      if (!created || !isSingle(unit)) return [unit]
      const { eventId = '', app, workflow } = created.run
      return [{ ...unit, guards: [...unit.guards, { type: 'unstarted', eventId, app, workflow }] }]
    },
  },
  {
    name: 'a batch loses its last run',
    tamper: ({ guards, changes }) => {
      const created = changes.filter(({ type }) => type === 'run.created')
      return [{ guards, changes: changes.filter(change => created.length < 2 || change !== created.at(-1)) }]
    },
  },
  {
    name: 'the audit log counts a batch in a commit of its own',
    tamper: ({ guards, changes }) => {
      const isAudit = ({ type }: { type: string }) => type === 'control.recorded'
      if (!changes.some(isAudit) || changes.every(isAudit)) return [{ guards, changes }]
      return [
        { guards, changes: changes.filter(change => !isAudit(change)) },
        { guards: [], changes: changes.filter(isAudit) },
      ]
    },
  },
]

it.each(PLANTED)('notices $name', bug => expectNoticed(bug, seed => play(seed, noneShown(), bug.tamper)))

async function play(seed: number, shown: Shown, tamper?: Tamper): Promise<void> {
  const rng = new Rng(seed, 'redrive')
  const turns = rng.fork('turns')
  const options = { tamper, turns: () => turns.int(0, 4) }
  const first = await CrashingEngine.open(options)
  await register(first)
  const engines = seed % 3 === 0 ? [first] : [first, await CrashingEngine.open({ ...options, beside: first })]
  await playOn(engines, seed, new RedriveHistory(engines, rng, shown))
}

async function register(engine: CrashingEngine): Promise<void> {
  const workflows = [
    { name: 'bill', triggers: [{ event: EVENT, if: `event.data.n % ${TRIGGERED_EVERY} == 0` }] },
    { name: 'audit', triggers: [] },
  ]
  const body = { app: 'shop', runner: 'r', url: 'http://r.test', workflows }
  expect((await engine.request('POST', '/register', body))?.status).toBe(200)
}

class RedriveHistory implements History {
  readonly transcript: string[] = []
  readonly #engines: readonly CrashingEngine[]
  readonly #first: CrashingEngine
  readonly #rng: Rng
  /** The ids of the events that were posted, by their numbers. */
  readonly #events: string[] = []
  readonly #shown: Shown
  #answered = 0
  #calls = 0

  constructor(engines: readonly CrashingEngine[], rng: Rng, shown: Shown) {
    this.#shown = shown
    this.#engines = [...engines]
    this.#first = engines[0] as CrashingEngine
    this.#rng = rng
  }

  async play(): Promise<void> {
    await this.#post(50)
    for (let i = 0; i < ACTIONS; i++) await this.#act()
    for (const engine of this.#engines) engine.spare()
    for (const workflow of WORKFLOWS) await this.#redrive(workflow, { bulk: 1, single: 0, mayCrash: false })
    await this.#check()
  }

  async #act(): Promise<void> {
    const rng = this.#rng
    const kind = rng.weighted({ post: 2, bulk: 4, single: 3, both: 2, crash: 0.5, down: 0.5 })
    const engine = rng.pick(this.#engines)
    const workflow = rng.pick(WORKFLOWS)
    if (kind === 'post') await this.#post(rng.int(1, 25))
    else if (kind === 'crash') await this.#record('crash', () => engine.crash())
    else if (kind === 'down') await this.#record('down', () => engine.down(20_000))
    else {
      const bulk = kind === 'single' ? 0 : rng.int(1, 3)
      const single = kind === 'bulk' ? 0 : rng.int(1, 2)
      await this.#redrive(workflow, { bulk, single, mayCrash: true })
    }
  }

  /** Sends events that start a run of `bill` or no run. The engine does not die meanwhile. */
  async #post(count: number): Promise<void> {
    for (const engine of this.#engines) engine.spare()
    const from = this.#events.length
    const body = Array.from({ length: count }, (_, i) => ({ name: EVENT, data: { n: from + i } }))
    await this.#record(`post ${count}`, async () => {
      const answer = await this.#first.request('POST', '/events/batch', body)
      expect(answer?.status).toBe(200)
      for (const { eventId } of answer?.body ?? []) this.#events.push(eventId)
    })
    await this.#record('pass', () => this.#first.pass(1))
    const starts = await this.#starts('bill')
    for (let n = from; n < this.#events.length; n++)
      expect(starts.get(n) ?? 0, `runs of event ${n}`).toBe(n % TRIGGERED_EVERY === 0 ? 1 : 0)
    this.#shown.triggered += Math.floor(count / TRIGGERED_EVERY)
  }

  /** Clients at any engines start this many calls at once; the engines may die at any of their writes. */
  async #redrive(
    workflow: Workflow,
    { bulk, single, mayCrash }: { bulk: number; single: number; mayCrash: boolean },
  ): Promise<void> {
    const before = await this.#starts(workflow)
    if (mayCrash && this.#rng.chance(0.6)) await this.#crashLater()
    const replies: (Counts | undefined)[] = []
    const singles: Single[] = []
    await this.#record(`redrive ${workflow}: ${bulk} bulk calls, ${single} single ones`, async () => {
      const many = Array.from({ length: bulk }, async () => replies.push(await this.#many(workflow)))
      const ones = Array.from({ length: single }, async () => singles.push(await this.#one(workflow)))
      await Promise.all([...many, ...ones])
    })
    const after = await this.#starts(workflow)
    this.transcript.push(`answered ${JSON.stringify(replies)}, ${JSON.stringify(singles)}`)
    checkCalls(before, after, { replies, singles, events: [...this.#events.keys()] })
    this.#note(before, after, replies, singles)
  }

  #crashLater(): Promise<void> {
    const [engine, n, before] = [this.#rng.pick(this.#engines), this.#rng.int(1, 6), this.#rng.chance(0.5)]
    return this.#record(`crash at write ${n}, before ${before}`, async () => engine.crashAtWrite(n, before))
  }

  async #many(workflow: Workflow): Promise<Counts | undefined> {
    this.#calls++
    const engine = this.#rng.pick(this.#engines)
    const answer = await engine.request('POST', '/events/redrive', {
      name: EVENT,
      since: '1970-01-01T00:00:00Z',
      workflow,
    })
    if (!answer) return undefined
    expect(answer.status, JSON.stringify(answer)).toBe(200)
    this.#answered++
    return answer.body
  }

  async #one(workflow: Workflow): Promise<Single> {
    const n = this.#rng.int(0, this.#events.length - 1)
    const answer = await this.#rng
      .pick(this.#engines)
      .request('POST', `/events/${this.#events[n]}/redrive`, { workflow })
    if (answer) expect(answer.status, JSON.stringify(answer)).toBe(201)
    return { n, runId: answer?.body.id }
  }

  async #starts(workflow: Workflow): Promise<Starts> {
    const runs = await this.#first.store.in('default').runs({ workflow, limit: 10_000 })
    const starts = new Map<number, number>()
    for (const { eventId } of runs) {
      const n = this.#events.indexOf(eventId as string)
      expect(n, `the event ${eventId}`).not.toBe(-1)
      starts.set(n, (starts.get(n) ?? 0) + 1)
    }
    return starts
  }

  #note(before: Starts, after: Starts, replies: (Counts | undefined)[], singles: Single[]): void {
    const sum = (starts: Starts) => [...starts.values()].reduce((total, count) => total + count, 0)
    const isUnanswered = replies.includes(undefined)
    const shown = this.#shown
    shown.single += singles.length
    shown.unanswered += isUnanswered ? 1 : 0
    shown.skipped += replies.reduce((total, reply) => total + (reply?.skipped ?? 0), 0)
    shown.bulk += replies.length > 0 ? sum(after) - sum(before) : 0
    if (isUnanswered && sum(after) > sum(before) && after.size < this.#events.length) shown.partly++
  }

  async #record(what: string, action: () => Promise<void>): Promise<void> {
    this.transcript.push(what)
    await action()
    for (const engine of this.#engines) {
      for (const pass of [...engine.waiting]) pass.answer(200, { data: null, logs: [] })
      await engine.settle()
    }
    for (const { errors } of this.#engines) expect(errors).toEqual([])
  }

  /** Checks that the audit log counts each run that was started by hand, and has an entry for each answered call. */
  async #check(): Promise<void> {
    const reads = this.#first.store.in('default')
    const entries = await reads.controlActions({ limit: 10_000, action: 'event.redrive' })
    const details = entries.map(({ detail }) => JSON.parse(detail as string) as Partial<Counts> & { eventId?: string })
    const bulk = details.filter(({ eventId }) => eventId === undefined)
    expect(bulk.length).toBeGreaterThanOrEqual(this.#answered)
    expect(bulk.length).toBeLessThanOrEqual(this.#calls)
    const counted = bulk.reduce((sum, { started = 0 }) => sum + started, 0) + details.length - bulk.length
    const triggered = Math.ceil(this.#events.length / TRIGGERED_EVERY)
    const runs = await reads.runs({ limit: 10_000 })
    expect(runs.length, 'runs').toBe(counted + triggered)
  }
}
