// Instants of a schedule at which nothing fired, although it was not paused: no engine ran, or the namespace was suspended, and they
// were not made up for. Kept with the schedule until the next such gap.

export interface Missed {
  /** The first and the last of the instants. */
  from: number
  until: number
}

/** The instants that were missed last. A gap goes on while nothing fires. */
export function missedAfter(
  { missed, lastAt = 0 }: { missed?: Missed | undefined; lastAt?: number | undefined },
  gap: Missed | undefined,
): { missed?: Missed } {
  if (!gap) return missed ? { missed } : {}
  return { missed: missed && lastAt < missed.from ? { from: missed.from, until: gap.until } : gap }
}
