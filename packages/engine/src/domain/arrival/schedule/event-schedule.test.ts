// Schedules of the API: their instants, and which overdue ones still fire (docs/events.md#schedules-by-api).

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, NOW } from '../../testkit/nouns.testkit.ts'
import {
  dueSchedule,
  type EventSchedule,
  paused,
  redefined,
  resumed,
  type ScheduleDefinition,
  setBack,
} from './event-schedule.ts'
import { Recurrence } from './recurrence.ts'

const hourly: ScheduleDefinition = { everyMs: HOUR, catchUp: 'one', eventName: 'tick' }
const made = (definition: ScheduleDefinition) => redefined(undefined, definition, { id: 'a', now: NOW })

/** The instants that fire one after the other at `now`, and the next one. */
function firedAt(schedule: EventSchedule, now: number): { instants: number[]; nextAt: number | undefined } {
  const instants: number[] = []
  let current = schedule
  for (let due = dueSchedule(current, now); due; due = dueSchedule(current, now)) {
    if (due.instant !== undefined) instants.push(due.instant)
    current = due.after
  }
  return { instants, nextAt: current.nextAt }
}

describe('an interval', () => {
  it('counts from the creation, which is no instant itself', () => {
    expect(new Recurrence({ everyMs: HOUR, anchor: NOW }).following(NOW, 2)).toEqual([NOW + HOUR, NOW + 2 * HOUR])
  })

  it('counts from the start that was asked for, which is one, and ends before the end', () => {
    const [startsAt, endsAt] = [NOW + 5 * MINUTE, NOW + 5 * MINUTE + 2 * HOUR]
    const times = new Recurrence({ everyMs: HOUR, anchor: startsAt, startsAt, endsAt })
    expect(times.following(NOW, 9)).toEqual([startsAt, startsAt + HOUR])
    expect(times.latest(startsAt, endsAt + HOUR)).toBe(startsAt + HOUR)
  })
})

describe('overdue instants', () => {
  it('become the newest one', () => {
    expect(firedAt(made(hourly), NOW + 5.5 * HOUR)).toEqual({ instants: [NOW + 5 * HOUR], nextAt: NOW + 6 * HOUR })
  })

  it('all fire, up to the oldest 999 and the newest', () => {
    const schedule = made({ ...hourly, catchUp: 'all' })
    const few = firedAt(schedule, NOW + 3.5 * HOUR)
    expect(few).toEqual({ instants: [NOW + HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR], nextAt: NOW + 4 * HOUR })
    const { instants, nextAt } = firedAt(schedule, NOW + 5000.5 * HOUR)
    expect([instants.length, instants[998], instants[999]]).toEqual([1000, NOW + 999 * HOUR, NOW + 5000 * HOUR])
    expect(nextAt).toBe(NOW + 5001 * HOUR)
  })

  it('do not fire when they are over a minute late', () => {
    const schedule = made({ ...hourly, catchUp: 'none' })
    expect(firedAt(schedule, NOW + 2 * HOUR + MINUTE)).toMatchObject({ instants: [NOW + 2 * HOUR] })
    expect(firedAt(schedule, NOW + 2 * HOUR + MINUTE + 1)).toEqual({ instants: [], nextAt: NOW + 3 * HOUR })
  })
})

describe('instants that were missed', () => {
  const after = (definition: ScheduleDefinition, hours: number) =>
    (dueSchedule(made(definition), NOW + hours * HOUR) as { after: EventSchedule }).after

  it('are those that do not fire: none on time, all but the newest, or the newest too', () => {
    expect(after(hourly, 1)).not.toHaveProperty('missed')
    expect(after(hourly, 5.5)).toMatchObject({ missed: { from: NOW + HOUR, until: NOW + 4 * HOUR } })
    expect(after({ ...hourly, catchUp: 'none' }, 5.5)).toMatchObject({ missed: { until: NOW + 5 * HOUR } })
    expect(after({ ...hourly, catchUp: 'all' }, 5.5)).not.toHaveProperty('missed')
  })

  it('are kept until the next gap, which goes on while nothing fires', () => {
    const none = { ...hourly, catchUp: 'none' } as const
    const first = after(none, 2.5)
    const second = (dueSchedule(first, NOW + 3.5 * HOUR) as { after: EventSchedule }).after
    const cause = 'no-engine'
    expect(second.missed).toEqual({ from: NOW + HOUR, until: NOW + 3 * HOUR, count: 3, cause })
    const fired = { ...second, lastAt: NOW + 4 * HOUR }
    const onTime = (dueSchedule(fired, NOW + 4 * HOUR) as { after: EventSchedule }).after
    expect(onTime.missed).toEqual(second.missed)
    const later = (dueSchedule(onTime, NOW + 5.5 * HOUR) as { after: EventSchedule }).after
    const gap = { from: NOW + 5 * HOUR, until: NOW + 5 * HOUR, count: 1, cause }
    expect(later.missed).toEqual({ ...gap, earlier: [second.missed] })
  })
})

describe('a schedule that is put again', () => {
  const later = { id: 'a', now: NOW + 90 * MINUTE }

  it('keeps its next instant, overdue or not, if its times stay', () => {
    expect(redefined(made(hourly), { ...hourly, eventName: 'tock' }, later)).toMatchObject({ nextAt: NOW + HOUR })
  })

  it('counts anew if they change', () => {
    const twice = redefined(made(hourly), { ...hourly, everyMs: HOUR / 2 }, later)
    expect(twice).toMatchObject({ nextAt: NOW + 2 * HOUR, createdAt: NOW })
  })

  it('stays paused; resumed, it goes on with the instants that come', () => {
    const held = redefined(paused(made(hourly)), hourly, later)
    expect(held).toMatchObject({ paused: true })
    expect(held.nextAt).toBeUndefined()
    expect(resumed(held, NOW + 5.5 * HOUR).nextAt).toBe(NOW + 6 * HOUR)
  })
})

describe('a schedule that is resumed', () => {
  it('repeats no instant when the clock was set back meanwhile, paused twice or put again or not', () => {
    const first = dueSchedule(made(hourly), NOW + HOUR) as { after: EventSchedule }
    const { after } = dueSchedule(first.after, NOW + 2 * HOUR) as { after: EventSchedule }
    const held = paused(paused(after))
    const put = redefined(held, { ...hourly, eventName: 'tock' }, { id: 'a', now: NOW })
    for (const schedule of [held, put]) expect(resumed(schedule, NOW + MINUTE).nextAt).toBe(NOW + 3 * HOUR)
  })

  it('keeps an overdue instant if it was not paused', () => {
    const schedule = made(hourly)
    expect(resumed(schedule, NOW + 5.5 * HOUR)).toBe(schedule)
  })
})

describe('a schedule whose clock was ahead for ten days', () => {
  const AHEAD = NOW + 240.5 * HOUR
  const wentAhead = (schedule: EventSchedule, at = AHEAD) =>
    (dueSchedule(schedule, at) as { after: EventSchedule }).after
  /** The instants that fire one by one, each at its time, from the first after `from` to `until`. */
  const onTime = (schedule: EventSchedule, until: number) => {
    const instants: number[] = []
    let current = schedule
    while (current.nextAt !== undefined && current.nextAt <= until) {
      const { instant, after } = dueSchedule(current, current.nextAt) as { instant?: number; after: EventSchedule }
      if (instant !== undefined) instants.push(instant)
      current = after
    }
    return { instants, current }
  }
  const hours = (...from: number[]) => from.map(hour => NOW + hour * HOUR)

  it('goes on with the next instant, and passes over the one that has fired', () => {
    const back = setBack(wentAhead(made(hourly)), NOW + MINUTE)
    expect(back).toMatchObject({
      nextAt: NOW + HOUR,
      firedAhead: [{ from: NOW + 240 * HOUR, until: NOW + 240 * HOUR }],
    })
    expect(back).not.toHaveProperty('missed')
    const { instants, current } = onTime(back, NOW + 242 * HOUR)
    expect(instants).toHaveLength(241)
    expect(instants.slice(-3)).toEqual(hours(239, 241, 242))
    expect(current).not.toHaveProperty('firedAhead')
  })

  it('repeats nothing that fired on time while it was ahead', () => {
    const ahead = onTime(wentAhead(made(hourly)), NOW + 244 * HOUR).current
    const { instants } = onTime(setBack(ahead, NOW + 3.5 * HOUR), NOW + 246 * HOUR)
    expect(instants.slice(0, 2)).toEqual(hours(4, 5))
    expect(instants.slice(-3)).toEqual(hours(239, 245, 246))
  })

  it('repeats nothing when the clock is ahead again', () => {
    const back = setBack(wentAhead(made(hourly)), NOW + MINUTE)
    const again = dueSchedule(back, AHEAD) as { instant?: number; after: EventSchedule }
    expect(again).not.toHaveProperty('instant')
    const twice = setBack(again.after, NOW + 2 * MINUTE)
    expect(onTime(twice, NOW + 241 * HOUR).instants.slice(-2)).toEqual(hours(239, 241))
    expect(setBack(twice, NOW + 2 * MINUTE)).toEqual(twice)
  })

  it('has fired what it made up for, or nothing, by its rule', () => {
    const all = firedAt(made({ ...hourly, catchUp: 'all' }), AHEAD)
    expect(all.instants).toHaveLength(240)
    let schedule = made({ ...hourly, catchUp: 'all' })
    for (let due = dueSchedule(schedule, AHEAD); due; due = dueSchedule(schedule, AHEAD)) schedule = due.after
    expect(setBack(schedule, NOW).nextAt).toBe(NOW + 241 * HOUR)
    const none = setBack(wentAhead(made({ ...hourly, catchUp: 'none' })), NOW + MINUTE)
    expect(onTime(none, NOW + 241 * HOUR).instants).toHaveLength(241)
  })

  it('counts its interval anew if it was made meanwhile', () => {
    const late = redefined(undefined, hourly, { id: 'a', now: AHEAD })
    expect(setBack(late, NOW)).toMatchObject({ createdAt: NOW, nextAt: NOW + HOUR })
    const cron = redefined(undefined, { ...hourly, everyMs: undefined, cron: '0 * * * *' } as never, {
      id: 'a',
      now: AHEAD,
    })
    expect(setBack(cron, NOW).nextAt).toBe(NOW + HOUR)
  })

  it('goes on when it is put again, if it had ended meanwhile', () => {
    const ends = { ...hourly, endsAt: NOW + 24 * HOUR }
    const ended = wentAhead(made(ends))
    expect(ended.nextAt).toBeUndefined()
    const { instants } = onTime(redefined(ended, ends, { id: 'a', now: NOW + MINUTE }), NOW + 30 * HOUR)
    expect([instants.length, instants.at(-1)]).toEqual([22, NOW + 22 * HOUR])
    expect(redefined(ended, ends, { id: 'a', now: NOW + 30 * HOUR }).nextAt).toBeUndefined()
  })

  it('keeps few ranges of instants that have fired', () => {
    let schedule = made({ ...hourly, everyMs: MINUTE })
    for (let n = 1; n <= 20; n++) schedule = setBack(wentAhead(schedule, NOW + n * 10 * HOUR), NOW)
    expect(schedule.firedAhead).toHaveLength(8)
    expect(onTime(schedule, NOW + 250 * HOUR).instants).not.toContain(NOW + 200 * HOUR)
  })
})
