// The instants of a schedule of the API: by a cron expression or by a fixed interval, between a first and a last time
// (docs/events.md#schedules-by-api). Pure.

import { Schedule } from '../../text/cron.ts'
import { TIMESTAMP_MS_MAX } from '../../text/timestamp.ts'

export interface RecurrenceRule {
  /** With its zone as a leading `TZ=`. Exactly one of `cron` and `everyMs` is present. */
  cron?: string
  everyMs?: number
  /** Where an interval starts to count: `startsAt`, or the creation. */
  anchor: number
  /** No instant comes earlier. */
  startsAt?: number
  /** No instant comes at this time or later, nor beyond the range of a timestamp. */
  endsAt?: number
}

export class Recurrence {
  readonly #rule: RecurrenceRule
  readonly #cron: Schedule | undefined

  /** @throws CronError if the cron expression is invalid, or never fires. */
  constructor(rule: RecurrenceRule) {
    this.#rule = rule
    this.#cron = rule.cron === undefined ? undefined : new Schedule(rule.cron)
  }

  /** The first instant after `time`; undefined when there is none. */
  next(time: number): number | undefined {
    const { startsAt = Number.NEGATIVE_INFINITY, endsAt = TIMESTAMP_MS_MAX + 1 } = this.#rule
    const after = Math.max(time, startsAt - 1)
    const instant = this.#cron ? this.#cron.next(after) : this.#nextTick(after)
    return instant !== undefined && instant < endsAt ? instant : undefined
  }

  /** The last instant up to `time`; `first` is an instant at or before it. */
  latest(first: number, time: number): number {
    const { anchor, everyMs = 0, endsAt = TIMESTAMP_MS_MAX + 1 } = this.#rule
    const until = Math.min(time, endsAt - 1)
    return this.#cron ? this.#cron.latest(first, until) : until - ((until - anchor) % everyMs)
  }

  /** The next instants after `time`, at most `count`. */
  following(time: number, count: number): number[] {
    const instants: number[] = []
    for (let at = this.next(time); at !== undefined && instants.length < count; at = this.next(at)) instants.push(at)
    return instants
  }

  #nextTick(after: number): number {
    const { anchor, everyMs = 0, startsAt } = this.#rule
    // The creation itself is no instant, but a requested first time is one.
    if (after < anchor) return startsAt === undefined ? anchor + everyMs : anchor
    return anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs
  }
}
