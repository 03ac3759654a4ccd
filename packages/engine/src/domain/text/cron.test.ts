// Schedules, above all on the nights when clocks change. The expected instants are computed from the zone's offsets alone,
// in minutes of real time, without the library that computes the actual ones.

import { describe, expect, it } from 'vitest'
import { CronError, Schedule } from './cron.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const instants = (source: string, from: number, until: number): number[] => {
  const schedule = new Schedule(source)
  const found: number[] = []
  for (let t = schedule.next(from - 1); t !== undefined && t < until; t = schedule.next(t)) found.push(t)
  return found
}
const iso = (times: readonly number[]) => times.map(time => new Date(time).toISOString())

describe('a schedule', () => {
  it('has five fields, or six with the seconds first', () => {
    const from = Date.UTC(2026, 0, 1)
    expect(iso(instants('30 6 * * 1', from, from + 14 * DAY))).toEqual([
      '2026-01-05T06:30:00.000Z',
      '2026-01-12T06:30:00.000Z',
    ])
    expect(instants('*/20 * * * * *', from, from + MINUTE)).toEqual([from, from + 20_000, from + 40_000])
  })

  it('is in UTC, or in the zone it names', () => {
    const from = Date.UTC(2026, 6, 1)
    expect(new Schedule('0 12 * * *').timezone).toBe('UTC')
    expect(new Schedule('TZ=Asia/Kathmandu 0 12 * * *').timezone).toBe('Asia/Kathmandu')
    expect(iso(instants('TZ=Asia/Kathmandu 0 12 * * *', from, from + DAY))).toEqual(['2026-07-01T06:15:00.000Z'])
  })

  it.each([
    ['', 'fields'],
    ['* * * *', 'fields'],
    ['* * * * * * *', 'fields'],
    ['@daily', 'fields'],
    ['60 * * * *', 'no schedule'],
    ['* 24 * * *', 'no schedule'],
    ['a b c d e', 'no schedule'],
    ['0 0 30 2 *', 'never'],
    ['TZ=Mars/Olympus 0 0 * * *', 'time zone'],
    ['TZ= 0 0 * * *', 'no schedule'],
  ])('%j is refused', (source, why) => {
    expect(() => new Schedule(source)).toThrow(CronError)
    expect(() => new Schedule(source)).toThrow(why)
  })

  it('knows its latest instant, however many were missed', () => {
    const first = Date.UTC(2026, 0, 1)
    for (const source of ['* * * * * *', '*/7 * * * *', '0 3 * * 0', 'TZ=Europe/Berlin 30 2 * * *', '0 0 29 2 *']) {
      const schedule = new Schedule(source)
      const from = schedule.next(first) as number
      for (const ms of [0, 1, 999, 1000, 90_000, DAY + 1, 200 * DAY, 1000 * DAY]) {
        const time = from + ms
        const latest = schedule.latest(from, time)
        expect(latest, source).toBeLessThanOrEqual(time)
        expect(schedule.next(latest - 1), source).toBe(latest)
        expect(schedule.next(latest), source).toBeGreaterThan(time)
      }
    }
  })
})

const ZONES = [
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

interface Change {
  zone: string
  at: number
  /** Offsets from UTC, in ms. */
  before: number
  after: number
}

describe('on nights when clocks change', () => {
  const changes = ZONES.flatMap(changesOf)
  const skips = changes.filter(({ before, after }) => after > before)
  const repeats = changes.filter(({ before, after }) => after < before)

  it('there are many such nights, of both kinds', () => {
    expect(skips.length).toBeGreaterThan(80)
    expect(repeats.length).toBeGreaterThan(80)
  })

  it('a schedule of every hour fires every hour that passes', () => {
    for (const change of changes) expectMatching(change, '0 * * * *', 26 * HOUR, minute => minute % 60 === 0)
    for (const change of changes) expectMatching(change, '30 * * * *', 5 * HOUR, minute => minute % 60 === 30)
  })

  it('a schedule of every 15 minutes fires every 15 minutes that pass', () => {
    for (const change of changes) expectMatching(change, '*/15 * * * *', 4 * HOUR, minute => minute % 15 === 0)
  })

  it('a time that is skipped fires once, at the end of the gap', () => {
    for (const change of skips) {
      const skipped = change.at + change.before + (change.after - change.before) / 2
      expect(expectDaily(change, [minuteOf(skipped)])).toContain(change.at)
    }
  })

  it('a time that comes twice fires once, the first time', () => {
    for (const change of repeats) {
      const twice = change.at + change.after + (change.before - change.after) / 2
      const fired = expectDaily(change, [minuteOf(twice)])
      expect(fired.filter(time => Math.abs(time - change.at) < 2 * HOUR)).toHaveLength(1)
    }
  })

  it('02:30 and midnight fire once a day', () => {
    for (const change of changes) {
      for (const minute of [150, 0]) expect(expectDaily(change, [minute]).length).toBeGreaterThanOrEqual(3)
    }
  })

  it('several times a day, some of them skipped or twice, are each kept', () => {
    for (const change of changes) {
      expectDaily(change, [120, 150, 840, 870], '0,30 2,14')
      expectDaily(change, [60, 120, 180, 240], '0 1-4')
      expectDaily(change, [0, 15, 30, 45, 120, 135, 150, 165], '*/15 0,2')
    }
  })
})

const minuteOf = (local: number) => Math.floor((local % DAY) / MINUTE)

/** Every change of a zone's offset from 2024 to 2028, to the minute. */
function changesOf(zone: string): Change[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (time: number) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name ?? '') ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE)
  }
  const changes: Change[] = []
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
function wall({ at, before, after }: Change, time: number): number {
  return time + (time < at ? before : after)
}

/** The schedule fires at every minute of real time whose wall minute matches. */
function expectMatching(change: Change, fields: string, around: number, matches: (minute: number) => boolean) {
  const [from, until] = [change.at - around, change.at + around]
  const expected: number[] = []
  for (let time = from; time < until; time += MINUTE) {
    if (matches(Math.floor((wall(change, time) % DAY) / MINUTE))) expected.push(time)
  }
  const source = `TZ=${change.zone} ${fields}`
  expect(iso(instants(source, from, until)), source).toEqual(iso(expected))
}

/** A schedule of times of the day fires at the first minute of each day that is not before each of them. */
function expectDaily(change: Change, minutes: readonly number[], fields?: string): number[] {
  const [only = 0] = minutes
  const source = `TZ=${change.zone} ${fields ?? `${only % 60} ${Math.floor(only / 60)}`} * * *`
  // From one midnight on the wall to another, none of them near the change.
  const from = Math.floor(wall(change, change.at - 36 * HOUR) / DAY) * DAY - change.before
  const until = Math.ceil(wall(change, change.at + 36 * HOUR) / DAY) * DAY - change.after
  const met = new Set<number>()
  const expected = new Set<number>()
  for (let time = from; time < until; time += MINUTE) {
    const local = wall(change, time)
    for (const minute of minutes) {
      const key = Math.floor(local / DAY) * DAY + minute
      if ((local % DAY) / MINUTE < minute || met.has(key)) continue
      met.add(key)
      expected.add(time)
    }
  }
  const fired = instants(source, from, until)
  expect(iso(fired), source).toEqual(iso([...expected]))
  return fired
}
