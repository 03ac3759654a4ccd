// One random history of schedules on a night when clocks change. It moves from instant to instant, and shows the store to the
// model after each. schedule-nights.test.ts uses it.

import type { ScheduleEntry } from '@perdure/protocol'
import { expect } from 'vitest'
import { type ClockChange, HOUR, MINUTE } from '../../../packages/engine/src/domain/testkit/clock-changes.testkit.ts'
import type { Rng } from '../core/random.ts'
import { CrashingEngine } from './crashing-engine.ts'
import { fixedTimes, interval, NightSchedule, steadyTimes, type Times } from './schedule-nights-model.ts'

const ACTIONS = 10
/** The history stops this many milliseconds before an instant, with engines that are up. */
const BEFORE_MS = 20_000
/** Longer than a timer's lease, even of a dead engine, plus the longest sleep of a lane. */
const AFTER_MS = 40_000

/** Time advances by at most this much at once. */
const STRIDE_MS_MAX = 2.5 * HOUR

const iso = (time: number) => new Date(time).toISOString()

export type NightCounts = Record<'fired' | 'missed' | 'races' | 'lost' | 'won' | 'clocks' | 'crashes', number>
type Rival = 'pause' | 'resume' | 'fire' | 'put' | 'delete' | 'register'

interface Schedule {
  model: NightSchedule
  /** The path of the schedule's routes. */
  path: string
  /** The schedule's body. Absent for a schedule of a workflow. */
  body?: object
}

export interface NightOptions {
  rng: Rng
  change: ClockChange
  counts: NightCounts
  /** The wall clock may be set; otherwise engines are away. */
  mayBeSet: boolean
}

export class NightHistory {
  readonly transcript: string[] = []
  readonly #engines: readonly CrashingEngine[]
  readonly #first: CrashingEngine
  readonly #options: NightOptions
  readonly #schedules: Schedule[] = []
  #registration: object = {}
  readonly #inputs = new Map<string, number>()
  readonly #deleted = new Map<string, number[]>()

  constructor(engines: readonly CrashingEngine[], options: NightOptions) {
    this.#engines = engines
    this.#first = engines[0] as CrashingEngine
    this.#options = options
  }

  /** Registers the workflows and creates the schedules. */
  async begin(): Promise<void> {
    const { rng, change } = this.#options
    const [bill, poll] = [fixedTimes(change, rng), steadyTimes(change, rng)]
    const workflow = (name: string, { cron }: Times) => ({ name, triggers: [{ cron: `TZ=${change.zone} ${cron}` }] })
    this.#registration = {
      app: 'shop',
      runner: 'r',
      url: 'http://r.test',
      workflows: [workflow('bill', bill), workflow('poll', poll)],
    }
    await this.#register()
    for (const [name, times] of [['bill', bill] as const, ['poll', poll] as const]) {
      const model = new NightSchedule(name, 'one', times, this.#now)
      this.#schedules.push({ model, path: `/schedules/wf:shop:${name}:0` })
    }
    for (let n = 0; n < 3; n++) await this.#make(n)
    await this.#look()
  }

  async play(): Promise<void> {
    for (let i = 0; i < ACTIONS && this.#now < this.#options.change.at + 5 * HOUR; i++) {
      const { rng, mayBeSet } = this.#options
      const kind = rng.weighted({ instant: 7, quiet: 3, back: mayBeSet ? 1.5 : 0 })
      if (kind === 'instant') await this.#instant()
      else if (kind === 'back') await this.#setBack()
      else await this.#quiet()
    }
  }

  /** The time that the machines show. */
  get #now(): number {
    return this.#first.clock.now() + this.#first.wall.aheadMs
  }

  async #make(n: number): Promise<void> {
    const { rng, change } = this.#options
    const id = `own-${n}-${this.#deleted.size}`
    const catchUp = rng.pick(['one', 'all', 'none'] as const)
    const { everyMs, startsAt, instants } = interval(this.#now)
    const times = n === 0 ? fixedTimes(change, rng) : n === 1 ? steadyTimes(change, rng) : { instants }
    const when = n < 2 ? { cron: times.cron, timezone: change.zone } : { every: everyMs, startsAt: iso(startsAt) }
    const body = { ...when, catchUp, event: { name: id, data: { n } } }
    const model = new NightSchedule(id, catchUp, times, this.#now)
    const schedule = { model, path: `/schedules/${id}`, body }
    this.#note(`put ${JSON.stringify(body)}`)
    await this.#request('put', schedule, this.#first)
    this.#schedules.push(schedule)
  }

  /** Time advances to one of the next instants, sometimes without an engine or with a clock that is set. */
  async #instant(): Promise<void> {
    const { rng, counts, mayBeSet } = this.#options
    const open = this.#schedules.filter(({ model }) => !model.isPaused && this.#coming(model).length > 0)
    if (open.length === 0) return
    const schedule = rng.pick(open)
    const at = rng.pick(this.#coming(schedule.model))
    const ms = at - BEFORE_MS - this.#now
    if (mayBeSet && rng.chance(0.5)) await this.#setForward(ms)
    else {
      this.#note(`down ${ms}`)
      await CrashingEngine.downTogether(this.#engines, ms)
    }
    for (const { model } of this.#schedules) counts.missed += model.runAt(this.#now)
    // The engine notices the new clock after some seconds.
    await this.#first.pass(BEFORE_MS / 2)
    await this.#look()
    if (rng.chance(0.5)) this.#crashLater()
    if (rng.chance(0.6) && schedule.model.nextAt === at) await this.#race(schedule, at)
    await this.#first.pass(at + AFTER_MS - this.#now)
    for (const engine of this.#engines) engine.spare()
    for (const { model } of this.#schedules) model.runTo(this.#now)
    await this.#look()
    counts.fired += this.#schedules.filter(({ model }) => model.fired.includes(at)).length
  }

  /** The next instants of the schedule, except those of the next moment. */
  #coming(model: NightSchedule): number[] {
    return model.following(this.#now + 2 * BEFORE_MS).filter(instant => instant <= this.#now + STRIDE_MS_MAX)
  }

  /** Clients act on the schedule at the moment when an engine claims it. */
  async #race(schedule: Schedule, at: number): Promise<void> {
    const { rng, counts } = this.#options
    const { model, path, body } = schedule
    const rivals: Rival[] = [
      'pause',
      'pause',
      'resume',
      'fire',
      ...(body ? (['put', 'delete', 'delete'] as const) : []),
    ]
    const rival = rng.pick(body ? rivals : [...rivals, 'register' as const])
    // Each repeat would fire once more.
    if (rival === 'fire') for (const engine of this.#engines) engine.spare()
    const clients = Array.from({ length: rng.int(1, 3) }, () => rng.pick(this.#engines))
    this.#note(`${clients.length} clients ${rival} ${path} at ${iso(at)}`)
    const due = this.#claimAt(at)
    const answers = clients.map(engine => due.then(() => this.#request(rival, schedule, engine)))
    await this.#first.pass(at - this.#now)
    this.#note(`answered ${(await Promise.all(answers)).map(({ status }) => status)}`)
    counts.races++
    for (const engine of this.#engines) await engine.settle()
    if (rival === 'fire') model.fire(at, clients.length)
    else if (rival === 'pause') model.pause()
    else if (rival === 'delete') this.#remove(schedule)
    if (rival === 'pause' || rival === 'delete') await this.#adopt(model, at)
  }

  /** Either the pause, the deletion or the instant was first; the store shows which. */
  async #adopt(model: NightSchedule, at: number): Promise<void> {
    const { counts } = this.#options
    const times = (await this.#found(model.id)).filter(instant => instant === at).length
    expect(times, 'firings of an instant that was raced for').toBeLessThanOrEqual(1)
    const hasFired = times === 1
    model.settle(at, hasFired)
    counts[hasFired ? 'lost' : 'won']++
  }

  #remove(schedule: Schedule): void {
    this.#schedules.splice(this.#schedules.indexOf(schedule), 1)
    this.#deleted.set(schedule.model.id, schedule.model.fired)
  }

  /** Resolves when an engine claims timers at that time, or at the end of that moment. */
  #claimAt(at: number): Promise<void> {
    const ms = at - this.#now
    const { clock } = this.#first
    const due = clock.now() + ms
    return new Promise(resolve => {
      for (const engine of this.#engines)
        engine.onCall = name => {
          if (name === 'claimTimers' && clock.now() >= due) resolve()
        }
      clock.after(ms, resolve)
    })
  }

  /** A client acts on a schedule between two instants. */
  async #quiet(): Promise<void> {
    const { rng } = this.#options
    const schedule = rng.pick(this.#schedules)
    const { model, body } = schedule
    const kinds: Rival[] = [model.isPaused ? 'resume' : 'pause', model.isPaused ? 'resume' : 'fire', 'register']
    const kind = rng.pick(body ? [...kinds, 'put' as const, 'delete' as const] : kinds)
    if (kind !== 'fire' && rng.chance(0.5)) this.#crashLater()
    await this.#do(kind, schedule)
    for (const engine of this.#engines) engine.spare()
    if (kind === 'delete') await this.#make(rng.int(0, 2))
    await this.#look()
  }

  async #do(kind: Rival, schedule: Schedule): Promise<void> {
    const { model, path } = schedule
    this.#note(`${kind} ${path}`)
    await this.#request(kind, schedule, this.#options.rng.pick(this.#engines))
    if (kind === 'pause') model.pause()
    else if (kind === 'resume') model.resume(this.#now)
    else if (kind === 'fire') model.fire(this.#now)
    else if (kind === 'delete') this.#remove(schedule)
  }

  #setForward(ms: number): Promise<void> {
    this.#note(`the clock is set by ${ms}`)
    this.#options.counts.clocks++
    this.#first.wall.set(ms)
    return this.#first.settle()
  }

  /** Instants that fired while the clock was ahead do not fire again, even if the schedule was paused meanwhile. */
  async #setBack(): Promise<void> {
    const { rng, counts } = this.#options
    const ms = rng.int(1, 4) * 15 * MINUTE
    const open = this.#schedules.filter(({ model }) => !model.isPaused)
    const held = rng.chance(0.5) && open.length > 0 ? rng.pick(open) : undefined
    if (held) await this.#do('pause', held)
    this.#note(`the clock is set by ${-ms}`)
    counts.clocks++
    this.#first.wall.set(-ms)
    for (const { model } of this.#schedules) model.setBack(this.#now)
    await this.#first.pass(BEFORE_MS)
    if (held) await this.#do('resume', held)
    await this.#look()
  }

  #crashLater(): void {
    const { rng, counts } = this.#options
    const [n, before] = [rng.int(1, 5), rng.chance(0.5)]
    this.#note(`crash at write ${n}, before ${before}`)
    counts.crashes++
    rng.pick(this.#engines).crashAtWrite(n, before)
  }

  /** A client that repeats its request until it is answered. */
  async #request(kind: Rival, { path, body }: Schedule, engine: CrashingEngine) {
    if (kind === 'register') return this.#register()
    const [method, url] =
      kind === 'put' || kind === 'delete'
        ? [kind === 'put' ? ('PUT' as const) : ('DELETE' as const), path]
        : ['POST' as const, `${path}/${kind}`]
    let answer: Awaited<ReturnType<CrashingEngine['request']>>
    do answer = await engine.request(method, url, kind === 'put' ? body : undefined)
    while (answer === undefined)
    if (kind === 'delete') expect([204, 404]).toContain(answer.status)
    // Resuming an active schedule changes nothing.
    else if (kind !== 'resume' || answer.status !== 409) expect(answer.status, JSON.stringify(answer)).toBeLessThan(300)
    return answer
  }

  async #register() {
    let answer: Awaited<ReturnType<CrashingEngine['request']>>
    do answer = await this.#first.request('POST', '/register', this.#registration)
    while (answer === undefined)
    expect(answer.status, JSON.stringify(answer)).toBe(200)
    return answer
  }

  /** Shows the model the contents of the store, and compares the list of schedules. */
  async #look(): Promise<void> {
    for (const engine of this.#engines) {
      for (const pass of [...engine.waiting]) pass.answer(200, { data: null, logs: [] })
      await engine.settle()
      expect(engine.errors).toEqual([])
    }
    for (const { model } of this.#schedules) model.check(await this.#found(model.id))
    for (const [id, fired] of this.#deleted) expect((await this.#found(id)).sort(), id).toEqual([...fired].sort())
    const answer = await this.#first.request('GET', '/schedules?limit=200')
    const entries = new Map<string, ScheduleEntry>(
      (answer?.body ?? []).map((entry: ScheduleEntry) => [entry.id, entry]),
    )
    expect(entries.size).toBe(this.#schedules.length)
    for (const { model, path } of this.#schedules) {
      const entry = entries.get(path.slice('/schedules/'.length))
      expect(entry?.paused, path).toBe(model.isPaused)
      if (model.nextAt !== undefined) expect(Date.parse(entry?.next[0] as string), path).toBe(model.nextAt)
    }
    await this.#checkDeletions()
  }

  /** Checks that the audit log has one deletion per schedule, however many clients deleted it. */
  async #checkDeletions(): Promise<void> {
    const actions = await this.#first.store.in('default').controlActions({ limit: 1000, action: 'schedule.delete' })
    const ids = actions.map(({ detail }) => JSON.parse(detail as string).id as string)
    expect(ids.sort()).toEqual([...this.#deleted.keys()].sort())
  }

  /** The instants of the events or runs that a schedule has created. Checks that none is ahead of its time. */
  async #found(id: string): Promise<number[]> {
    const reads = this.#first.store.in('default')
    if (id.startsWith('own')) {
      const records = await reads.events({ limit: 1000, name: id })
      for (const { event } of records) expect(event.receivedAt).toBeGreaterThanOrEqual(event.scheduledAt as number)
      return records.map(({ event }) => event.scheduledAt as number)
    }
    for (const run of await reads.runs({ workflow: id, limit: 1000 })) {
      if (this.#inputs.has(run.id)) continue
      const { scheduledAt } = JSON.parse((await reads.run(run.id))?.input as string)
      expect(run.createdAt).toBeGreaterThanOrEqual(Date.parse(scheduledAt))
      this.#inputs.set(run.id, Date.parse(scheduledAt))
    }
    const runs = await reads.runs({ workflow: id, limit: 1000 })
    return runs.map(run => this.#inputs.get(run.id) as number)
  }

  #note(what: string): void {
    this.transcript.push(`${iso(this.#now)}: ${what}`)
  }
}
