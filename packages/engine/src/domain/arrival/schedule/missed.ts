// Instants of a schedule at which nothing fired although it was not paused, and that did not fire later: no engine ran, or the
// namespace was suspended. Stored with the schedule: the last gap, and some earlier ones.

/**
 * A gap: the first and the last of the instants, how many there were, and why none fired. Older rows lack the last two fields.
 */
export interface Gap {
  from: number
  until: number
  count?: number
  cause?: 'no-engine' | 'suspended'
}

export interface Missed extends Gap {
  /** The earlier gaps, the newest first. */
  earlier?: Gap[]
}

/** Number of gaps that are stored before the last one. */
const EARLIER_MAX = 9
/** Maximum instants that are counted. */
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

/** The instants that were missed last. A gap continues while nothing fires. */
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
