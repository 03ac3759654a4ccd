// Converts between instants and the wall time of a time zone. Wall times are epoch ms, as if they were UTC.

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  /** The wall time at an instant. */
  at(time: number): number {
    return time + this.#offset(time)
  }

  /** The first instant of a wall time. For a skipped wall time it is the end of the gap. */
  when(wall: number): number {
    const [before, after] = [this.#offset(wall - DAY_MS), this.#offset(wall + DAY_MS)]
    const early = wall - Math.max(before, after)
    const late = wall - Math.min(before, after)
    if (this.at(early) === wall) return early
    if (this.at(late) === wall) return late
    // The clock change is in between; offsets change at whole minutes.
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
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  }
}
