// Cron schedules: five fields, or six with seconds first, in UTC or in the zone that a leading `TZ=Zone ` names
// (docs/events.md#schedules). Pure: computes the next instant after a given one.
//
// A schedule with fixed hours (no `*` in their field) keeps its times of the day when clocks change: a skipped time fires once,
// at the end of the gap, and a time that comes twice fires the first time. A schedule with a `*` in the hours follows elapsed
// time: it does not fire later for skipped hours, and fires twice in an hour that comes twice.

import { cutText } from '@perdure/protocol'
import { Cron } from 'croner'
import { WallClock } from './wall-clock.ts'

/** The schedule cannot be used; the message gives the reason. */
export class CronError extends Error {
  override name = 'CronError'
}

export class Schedule {
  /** The text as registered, `TZ=` included. It identifies the schedule within its workflow. */
  readonly source: string
  readonly timezone: string
  /** Runs in the schedule's zone, or in wall time if the hours are fixed. */
  readonly #cron: Cron
  readonly #wall: WallClock | undefined

  /** Throws CronError if the text is not a schedule, or if the schedule never fires. */
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
      throw new CronError(`is not a valid cron expression: ${(error as Error).message}`)
    }
    if (this.next(0) === undefined) throw new CronError('never fires')
  }

  /** The first instant after `time` (epoch ms) at which it fires; undefined if there is none. */
  next(time: number): number | undefined {
    if (!this.#wall) return this.#after(time)
    // A wall time that comes twice has already fired the first time.
    for (let wall = this.#after(this.#wall.at(time)); wall !== undefined; wall = this.#after(wall)) {
      const instant = this.#wall.when(wall)
      if (instant > time) return instant
    }
    return undefined
  }

  #after(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime()
  }

  /** The last instant up to `time`. `first` is an instant of the schedule at or before it. */
  latest(first: number, time: number): number {
    // Binary search: `next` never falls as its argument rises, and exceeds `time` exactly from the searched instant on.
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

/** The zone of a valid schedule's source. */
export function timezoneOf(source: string): string {
  return partsOf(source).timezone
}

/** The source of a schedule in the zone. For UTC it has no `TZ=`, like a schedule that names no zone. */
export function zoned(fields: string, timezone: string): string {
  return timezone === 'UTC' ? fields : `TZ=${timezone} ${fields}`
}

/** The source without its zone. */
export function fieldsOf(source: string): string {
  return partsOf(source).fields
}

function partsOf(source: string): { timezone: string; fields: string } {
  const [, zone, fields = ''] = /^(?:TZ=(\S+)\s+)?(.*)$/s.exec(source.trim()) ?? []
  return { timezone: zone ?? 'UTC', fields: fields.trim() }
}

function checkZone(zone: string): void {
  if (!isZone(zone)) throw new CronError(`names an unknown time zone: ${cutText(zone, 64)}`)
}

/** Whether there is a time zone of this name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
