// Nights on which the clocks of 20 zones change, and the instants of schedules around these nights. Computed only from the
// zones' offsets, in minutes of real time, without the library that computes the actual instants. Used by tests of schedules.

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const ZONES = [
  'Europe/Berlin',
  'Europe/London',
  'Europe/Lisbon',
  'Europe/Athens',
  'Europe/Chisinau',
  'Atlantic/Azores',
  'America/New_York',
  'America/Chicago',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
]

export interface ClockChange {
  zone: string
  at: number
  /** Offsets from UTC, in ms. */
  before: number
  after: number
}

/** Every change of a zone's offset from 2024 to 2028, to the minute. */
export function changesOf(zone: string): ClockChange[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (time: number) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name ?? '') ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE)
  }
  const changes: ClockChange[] = []
  for (let day = Date.UTC(2024, 0, 1); day < Date.UTC(2029, 0, 1); day += DAY) {
    const [before, after] = [offset(day), offset(day + DAY)]
    if (before === after) continue
    let [low, high] = [day, day + DAY]
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / (2 * MINUTE)) * MINUTE
      if (offset(middle) === before) low = middle
      else high = middle
    }
    changes.push({ zone, at: high, before, after })
  }
  return changes
}

/** Wall time of the zone, as if it were UTC. */
function wallTime({ at, before, after }: ClockChange, time: number): number {
  return time + (time < at ? before : after)
}

/** Every minute of real time from `from` to `until` whose minute of the day on the wall clock matches. */
export function matchingInstants(
  change: ClockChange,
  [from, until]: readonly [number, number],
  matches: (minute: number) => boolean,
): number[] {
  const instants: number[] = []
  for (let time = from; time < until; time += MINUTE) {
    if (matches(Math.floor((wallTime(change, time) % DAY) / MINUTE))) instants.push(time)
  }
  return instants
}

/** From one midnight on the wall clock to another, both not near the change. */
export function daysAround(change: ClockChange): [from: number, until: number] {
  return [
    Math.floor(wallTime(change, change.at - 36 * HOUR) / DAY) * DAY - change.before,
    Math.ceil(wallTime(change, change.at + 36 * HOUR) / DAY) * DAY - change.after,
  ]
}

/** For each day around the change and each of these minutes of the day, the first real minute that is not before it. */
export function dailyInstants(change: ClockChange, minutes: readonly number[]): number[] {
  const [from, until] = daysAround(change)
  const met = new Set<number>()
  const instants = new Set<number>()
  for (let time = from; time < until; time += MINUTE) {
    const local = wallTime(change, time)
    for (const minute of minutes) {
      const key = Math.floor(local / DAY) * DAY + minute
      if ((local % DAY) / MINUTE < minute || met.has(key)) continue
      met.add(key)
      instants.add(time)
    }
  }
  return [...instants]
}
