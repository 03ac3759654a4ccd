// Cron schedules: five fields, or six with seconds first, in UTC or in the zone that a `TZ=Zone ` before them names
// (decisions, "Events"). Pure: the next instant after a given one.
//
// Where clocks change, a schedule whose hours are given (no `*` in their field) keeps its times of the day: those that
// are skipped fire once, at the end of the gap, and those that come twice fire the first time. With a `*` in the hours
// it follows the time that passes: nothing is made up for, and an hour that comes twice fires twice.

import { Cron } from 'croner'
import { WallClock } from './wall-clock.ts'

export const CRON_CHARS_MAX = 256

/** A schedule that cannot be used; the message says why. */
export class CronError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CronError'
  }
}

export class Schedule {
  /** As registered, `TZ=` included: what tells a workflow's schedules apart. */
  readonly source: string
  readonly timezone: string
  /** In its zone; of a schedule whose hours are given, in wall time. */
  readonly #cron: Cron
  readonly #wall: WallClock | undefined

  /** Throws CronError for what is no schedule, or one that never comes. */
  constructor(source: string) {
    this.source = source
    const { timezone, fields } = partsOf(source)
    this.timezone = timezone
    checkZone(timezone)
    const parts = fields.split(/\s+/)
    if (parts.length !== 5 && parts.length !== 6)
      throw new CronError('must have five fields, or six with the seconds first')
    const hours = parts.at(-4) as string
    this.#wall = timezone === 'UTC' || /[*?]/.test(hours) ? undefined : new WallClock(timezone)
    try {
      this.#cron = new Cron(fields, { timezone: this.#wall ? 'UTC' : timezone, paused: true })
    } catch (error) {
      throw new CronError(`is no schedule: ${(error as Error).message}`)
    }
    if (this.next(0) === undefined) throw new CronError('never comes')
  }

  /** The first instant after `time` (epoch ms) at which it fires; undefined when there is none. */
  next(time: number): number | undefined {
    if (!this.#wall) return this.#after(time)
    // Times that come twice have been met the first time round.
    for (let wall = this.#after(this.#wall.at(time)); wall !== undefined; wall = this.#after(wall)) {
      const instant = this.#wall.when(wall)
      if (instant > time) return instant
    }
    return undefined
  }

  #after(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime()
  }

  /** The last instant of those from `first`, which is one, up to `time`. */
  latest(first: number, time: number): number {
    // `next` never falls as its argument rises, and jumps over `time` exactly at the instant that is looked for.
    let low = first
    let high = time
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const next = this.next(middle)
      if (next === undefined || next > time) high = middle
      else low = next
    }
    return low
  }
}

/** The zone of a source that is known to be a schedule. */
export function timezoneOf(source: string): string {
  return partsOf(source).timezone
}

function partsOf(source: string): { timezone: string; fields: string } {
  const [, zone, fields = ''] = /^(?:TZ=(\S+)\s+)?(.*)$/s.exec(source.trim()) ?? []
  return { timezone: zone ?? 'UTC', fields: fields.trim() }
}

function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw new CronError(`names a time zone that is not known: ${zone.slice(0, 64)}`)
  }
}
