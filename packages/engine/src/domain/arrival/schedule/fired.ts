// Instants of a schedule that fired early because the wall clock was ahead, and the schedule's next instant once the clock was
// set back (docs/operating.md#clocks). Pure; called by the schedules of the API and of workflows.

import { gapOf, type Missed } from './missed.ts'

/** The first and the last of consecutive instants that have fired. */
export interface Fired {
  from: number
  until: number
}

/** Maximum ranges of a schedule. If there are more, the two earliest become one, and the instants between them do not fire. */
const RANGES_MAX = 8

/** The instants of a schedule. */
export interface Instants {
  next(time: number): number | undefined
  latest(first: number, time: number): number
}

/** The state of a schedule's instants. */
export interface InstantRecord {
  nextAt?: number | undefined
  /** When it fired last. */
  lastAt?: number | undefined
  missed?: Missed | undefined
  firedAhead?: readonly Fired[] | undefined
}

export function hasFired(instant: number, firedAhead: readonly Fired[] = []): boolean {
  return firedAhead.some(({ from, until }) => from <= instant && instant <= until)
}

/** The first instant after `time` that has not fired. */
export function nextUnfired(instants: Instants, time: number, firedAhead: readonly Fired[] = []): number | undefined {
  let next = instants.next(time)
  for (const { from, until } of firedAhead) {
    if (next !== undefined && from <= next && next <= until) next = instants.next(until)
  }
  return next
}

/**
 * The ranges without the past ones. A range within the instants that were missed last is kept, since it may come again with
 * them.
 */
export function firedAfter({ missed, firedAhead = [] }: InstantRecord, now: number): { firedAhead?: Fired[] } {
  return recordOf(firedAhead.filter(({ until }) => until > now || (missed && until >= missed.from)))
}

/**
 * The state after the clock was set back to `now`: the next instant is computed from now. Instants that have fired do not fire
 * again. All instants between now and `nextAt` have fired, except those that were missed last, and those after the last firing
 * of the schedule.
 */
export function afterSetBack(
  instants: Instants,
  { nextAt = Number.POSITIVE_INFINITY, lastAt = 0, missed, firedAhead = [] }: InstantRecord,
  now: number,
): { nextAt?: number; missed?: Missed; firedAhead?: Fired[] } {
  const end = Math.min(nextAt - 1, lastAt)
  const spans =
    missed && missed.until > now
      ? [
          { after: now, end: Math.min(end, missed.from - 1) },
          { after: missed.until, end },
        ]
      : [{ after: now, end }]
  const ranges = [...firedAhead]
  for (const { after, end } of spans) {
    const from = instants.next(after)
    if (from !== undefined && from <= end) ranges.push({ from, until: instants.latest(from, end) })
  }
  const kept = bounded(ranges)
  const next = nextUnfired(instants, now, kept)
  return { ...(next === undefined ? {} : { nextAt: next }), ...missedBy(instants, missed, now), ...recordOf(kept) }
}

/** The missed instants in the past: the others come again. */
function missedBy(instants: Instants, missed: Missed | undefined, now: number): { missed?: Missed } {
  if (!missed || missed.from > now) return {}
  if (missed.until <= now) return { missed }
  const until = instants.latest(missed.from, now)
  const { cause, earlier } = missed
  const gap = cause ? gapOf(instants, { from: missed.from, until }, cause) : { from: missed.from, until }
  return { missed: { ...gap, ...(earlier && { earlier }) } }
}

/** The ranges in order, without overlaps, and at most the number that is stored. */
function bounded(ranges: Fired[]): Fired[] {
  const joined: Fired[] = []
  for (const range of ranges.sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && range.from <= last.until) last.until = Math.max(last.until, range.until)
    else joined.push({ ...range })
  }
  while (joined.length > RANGES_MAX) {
    const [first, second] = joined as [Fired, Fired]
    joined.splice(0, 2, { from: first.from, until: second.until })
  }
  return joined
}

function recordOf(ranges: Fired[]): { firedAhead?: Fired[] } {
  return ranges.length === 0 ? {} : { firedAhead: ranges }
}
