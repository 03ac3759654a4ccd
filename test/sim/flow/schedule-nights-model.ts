// A reference model of schedules on a night when clocks change, based only on docs/events.md#schedules: which instants fire, with
// engines that are away, pauses and clocks that are set. It computes the instants from the zone's offsets.
// schedule-nights.test.ts uses it.

import {
  type ClockChange,
  dailyInstants,
  HOUR,
  MINUTE,
  matchingInstants,
} from '../../../packages/engine/src/domain/testkit/clock-changes.testkit.ts'
import type { Rng } from '../core/random.ts'
import { ensure } from '../core/violation.ts'

/** The contract of `catchUp: 'none'`: an instant that is later than this does not fire. */
const LATE_MS_MAX = 60_000
const EVERY_MS = 45 * MINUTE

export interface Times {
  /** The expression without its zone. Absent for an interval. */
  cron?: string
  /** The instants of the night, in order. */
  instants: readonly number[]
}

/** A cron of fixed hours, at the times of the day that the change skips or repeats. */
export function fixedTimes(change: ClockChange, rng: Rng): Times {
  const { at, before, after } = change
  const middle = ((at + Math.min(before, after) + Math.abs(after - before) / 2) / MINUTE) % 1440
  const [hour, minute] = [Math.floor(middle / 60), middle % 60]
  if (rng.chance(0.5)) return { cron: `${minute} ${hour} * * *`, instants: dailyInstants(change, [middle]) }
  const hours = [hour - 1, hour, hour + 1].filter(each => each >= 0 && each < 24)
  const minutes = hours.flatMap(each => [each * 60, each * 60 + 30])
  return { cron: `0,30 ${hours.join()} * * *`, instants: dailyInstants(change, minutes) }
}

/** A cron that follows elapsed time. */
export function steadyTimes(change: ClockChange, rng: Rng): Times {
  const every = rng.pick([30, 60])
  const span = [change.at - 8 * HOUR, change.at + 12 * HOUR] as const
  const instants = matchingInstants(change, span, minute => minute % every === 0)
  return { cron: every === 60 ? '0 * * * *' : '*/30 * * * *', instants }
}

/** An interval whose instants are some minutes away from the instants of crons. */
export function interval(now: number): Times & { everyMs: number; startsAt: number } {
  const startsAt = (Math.floor(now / (15 * MINUTE)) * 15 + 22) * MINUTE
  return { everyMs: EVERY_MS, startsAt, instants: Array.from({ length: 40 }, (_, i) => startsAt + i * EVERY_MS) }
}

export class NightSchedule {
  readonly id: string
  readonly catchUp: 'one' | 'all' | 'none'
  /** Instants that have fired, and the moments of firing by hand. */
  readonly fired: number[] = []
  readonly #instants: readonly number[]
  /** Instants that have fired, or count as fired: they do not come again. */
  readonly #over = new Set<number>()
  /** Instants before this one no longer fire, unless the clock is set back. */
  #floor: number
  #isPaused = false
  /** When the schedule last fired. */
  #lastAt = 0
  /** The first and the last of the instants that were missed most recently. */
  #missed: { from: number; until: number } | undefined

  constructor(id: string, catchUp: 'one' | 'all' | 'none', { instants }: Times, now: number) {
    this.id = id
    this.catchUp = catchUp
    this.#instants = instants
    this.#floor = now + 1
  }

  /** Undefined while the schedule is paused. */
  get nextAt(): number | undefined {
    return this.isPaused ? undefined : this.#coming[0]
  }

  /** Instants that may still fire, after that time. */
  following(time: number): number[] {
    return this.#coming.filter(instant => instant > time)
  }

  get #coming(): number[] {
    return this.#instants.filter(instant => instant >= this.#floor && !this.#over.has(instant))
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  pause(): void {
    this.#isPaused = true
  }

  /** Resumes the schedule. Instants during the pause do not fire later, and none that has fired comes again. */
  resume(now: number): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#countFrom(now)
  }

  /** A paused schedule computes its next instant when it is resumed. */
  setBack(now: number): void {
    if (!this.isPaused) this.#countFrom(now)
  }

  /** The instants missed last and the instants after the last firing come again. The others before the next instant are over. */
  #countFrom(now: number): void {
    const missed = this.#missed
    const isMissed = (instant: number) => missed && missed.from <= instant && instant <= missed.until
    for (const instant of this.#instants) {
      const isBefore = instant > now && instant < this.#floor
      if (isBefore && instant <= this.#lastAt && !isMissed(instant)) this.#over.add(instant)
    }
    this.#floor = now + 1
    if (!missed || missed.until <= now) return
    const past = this.#instants.filter(instant => isMissed(instant) && instant <= now)
    this.#missed = missed.from > now ? undefined : { from: missed.from, until: past.at(-1) as number }
  }

  /** Records that the schedule is fired by hand. For a workflow, that counts as its last run. */
  fire(now: number, times = 1): void {
    this.fired.push(...Array.from({ length: times }, () => now))
    if (!this.id.startsWith('own')) this.#lastAt = now
  }

  /** While an engine is running, every instant fires. */
  runTo(now: number): void {
    for (let next = this.nextAt; next !== undefined && next <= now; next = this.nextAt) this.settle(next, true)
  }

  /** An engine is up again at `now`, or notices a clock that was set forward to it. Returns how many instants were missed. */
  runAt(now: number): number {
    const first = this.nextAt
    if (first === undefined || first > now) return 0
    const passed = this.#instants.filter(instant => instant >= first && instant <= now)
    const newest = passed.at(-1) as number
    const isTooLate = this.catchUp === 'none' && now - newest > LATE_MS_MAX
    const fires = this.catchUp === 'all' ? passed : isTooLate ? [] : [newest]
    const until = this.catchUp === 'all' ? undefined : isTooLate ? newest : passed.at(-2)
    if (until !== undefined) {
      const goesOn = this.#missed && this.#lastAt < this.#missed.from
      this.#missed = { from: goesOn ? (this.#missed?.from as number) : first, until }
    }
    for (const instant of fires.filter(each => !this.#over.has(each))) {
      this.settle(instant, true)
      this.#lastAt = now
    }
    this.#floor = newest + 1
    return passed.length - fires.length
  }

  /** Records that an instant fired in a race with a client, or that the client was first. */
  settle(instant: number, hasFired: boolean): void {
    if (!hasFired) return
    this.fired.push(instant)
    this.#over.add(instant)
    this.#floor = instant + 1
    this.#lastAt = instant
  }

  /** Compares the instants of the events or runs that the schedule has created. */
  check(found: readonly number[]): void {
    const iso = (times: readonly number[]) => [...times].sort().map(time => new Date(time).toISOString())
    const [expected, actual] = [iso(this.fired).join(' '), iso(found).join(' ')]
    ensure(expected === actual, 'each instant counts once', () => `${this.id}: expected ${expected}, found ${actual}`)
  }
}
