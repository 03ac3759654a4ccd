// Schedules, above all on nights when clocks change.

import { describe, expect, it } from 'vitest'
import {
  type ClockChange,
  changesOf,
  DAY,
  dailyInstants,
  daysAround,
  HOUR,
  MINUTE,
  matchingInstants,
  ZONES,
} from '../testkit/clock-changes.testkit.ts'
import { CronError, Schedule } from './cron.ts'

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
    ['60 * * * *', 'is not a valid cron expression'],
    ['* 24 * * *', 'is not a valid cron expression'],
    ['a b c d e', 'is not a valid cron expression'],
    ['0 0 30 2 *', 'never'],
    ['TZ=Mars/Olympus 0 0 * * *', 'time zone'],
    ['TZ= 0 0 * * *', 'is not a valid cron expression'],
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

describe('on nights when clocks change', () => {
  /** Two years have changes of every kind. */
  const changes = ZONES.flatMap(zone => changesOf(zone).slice(0, 4))
  const skips = changes.filter(({ before, after }) => after > before)
  const repeats = changes.filter(({ before, after }) => after < before)

  it('there are many such nights, of both kinds', () => {
    expect(skips.length).toBeGreaterThan(35)
    expect(repeats.length).toBeGreaterThan(35)
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

/** The schedule fires at every minute of real time whose wall minute matches. */
function expectMatching(change: ClockChange, fields: string, around: number, matches: (minute: number) => boolean) {
  const span = [change.at - around, change.at + around] as const
  const source = `TZ=${change.zone} ${fields}`
  expect(iso(instants(source, ...span)), source).toEqual(iso(matchingInstants(change, span, matches)))
}

/** A schedule with times of the day fires once for each of them a day: at the first minute that is not before it. */
function expectDaily(change: ClockChange, minutes: readonly number[], fields?: string): number[] {
  const [only = 0] = minutes
  const source = `TZ=${change.zone} ${fields ?? `${only % 60} ${Math.floor(only / 60)}`} * * *`
  const fired = instants(source, ...daysAround(change))
  expect(iso(fired), source).toEqual(iso(dailyInstants(change, minutes)))
  return fired
}
