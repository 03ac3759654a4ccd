// What the clock on the wall of a time zone shows, and when it shows what. Wall times are written as if they were UTC.

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  /** What it shows at that instant. */
  at(time: number): number {
    return time + this.#offset(time)
  }

  /** When it first shows that, or more: a wall time that is skipped is shown when the gap ends. */
  when(wall: number): number {
    const [before, after] = [this.#offset(wall - DAY_MS), this.#offset(wall + DAY_MS)]
    const early = wall - Math.max(before, after)
    const late = wall - Math.min(before, after)
    if (this.at(early) === wall) return early
    if (this.at(late) === wall) return late
    // The change lies in between; offsets change on the minute.
    let [low, high] = [Math.floor(early / MINUTE_MS), Math.ceil(late / MINUTE_MS)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.at(middle * MINUTE_MS) < wall) low = middle
      else high = middle
    }
    return high * MINUTE_MS
  }

  #offset(time: number): number {
    const name = this.#format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  }
}
