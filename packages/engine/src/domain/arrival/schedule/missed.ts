// Instants of a schedule at which nothing fired, although it was not paused: no engine ran, or the namespace was suspended, and they
// were not made up for. Kept with the schedule: the last gap, and some before it.

/** A gap: the first and the last of the instants, how many there were, and why none fired. Older rows lack the last two. */
export interface Gap {
  from: number
  until: number
  count?: number
  cause?: 'no-engine' | 'suspended'
}

export interface Missed extends Gap {
  /** The gaps before it, the newest first. */
  earlier?: Gap[]
}

/** Gaps that are kept before the last. */
const EARLIER_MAX = 9
/** Instants that are counted at most. */
const MISSED_COUNT_MAX = 1000

/** The gap from one instant to another of the schedule. */
export function gapOf(
  instants: { next(time: number): number | undefined },
  { from, until }: Pick<Gap, 'from' | 'until'>,
  cause: Gap['cause'] & string,
): Gap {
  let count = 1
  for (let at = instants.next(from); at !== undefined && at <= until && count < MISSED_COUNT_MAX; count++)
    at = instants.next(at)
  return { from, until, count, cause }
}

/** The instants that were missed last. A gap goes on while nothing fires. */
export function missedAfter(
  { missed, lastAt = 0 }: { missed?: Missed | undefined; lastAt?: number | undefined },
  gap: Gap | undefined,
): { missed?: Missed } {
  if (!gap) return missed ? { missed } : {}
  if (!missed) return { missed: gap }
  const { earlier = [], ...last } = missed
  const goesOn = lastAt < last.from && (last.cause === undefined || last.cause === gap.cause)
  if (!goesOn) return { missed: { ...gap, earlier: [last, ...earlier].slice(0, EARLIER_MAX) } }
  const count = Math.min(MISSED_COUNT_MAX, (last.count ?? 1) + (gap.count ?? 1))
  return { missed: { ...gap, from: last.from, count, ...(earlier.length > 0 && { earlier }) } }
}
