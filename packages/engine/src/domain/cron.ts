// Cron schedules: five fields, or six with seconds first, in UTC or in the zone that a `TZ=Zone ` before them names
// (decisions, "Events"). Pure: the next instant after a given one.

import { Cron } from 'croner'

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
  readonly #cron: Cron

  /** Throws CronError for what is no schedule, or one that never comes. */
  constructor(source: string) {
    this.source = source
    const [, zone, fields] = /^(?:TZ=(\S+)\s+)?(.*)$/s.exec(source.trim()) as unknown as [
      string,
      string?,
      string?,
    ]
    this.timezone = zone ?? 'UTC'
    checkZone(this.timezone)
    const count = (fields ?? '').trim().split(/\s+/).length
    if (count !== 5 && count !== 6)
      throw new CronError('must have five fields, or six with the seconds first')
    try {
      this.#cron = new Cron((fields as string).trim(), { timezone: this.timezone, paused: true })
    } catch (error) {
      throw new CronError(`is no schedule: ${(error as Error).message}`)
    }
    if (this.next(0) === undefined) throw new CronError('never comes')
  }

  /** The first instant after `time` (epoch ms) at which it fires; undefined when there is none. */
  next(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime()
  }
}

function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw new CronError(`names a time zone that is not known: ${zone.slice(0, 64)}`)
  }
}
