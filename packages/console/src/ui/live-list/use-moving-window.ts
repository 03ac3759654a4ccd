// The time window of a page with statistics: it moves forward when runs have changed, and everything in it is read again.

import { useMemo, useState } from 'react'
import { type OperationId, renew } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { useUtc } from '../../data/time/zone.ts'
import { type RenewalOptions, useRenewal } from './use-renewal.ts'

export interface MovingWindowOptions extends RenewalOptions {
  /** Operations that are read with the start of the window. */
  windowed: readonly OperationId[]
  /** Operations of the page that are read without it. */
  others: readonly OperationId[]
}

/** Returns the start of the window: computed again when the URL changes, and with each renewal. */
export function useMovingWindow(since: string, { windowed, others, ...options }: MovingWindowOptions) {
  const [renewals, setRenewals] = useState(0)
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a renewal moves the window, and the zone moves days.
  const from = useMemo(() => sinceParam(since, engineNow()), [since, renewals, isUtc])
  useRenewal(() => {
    // With another start the reads of the window have another input, and happen because of that.
    const hasMoved = sinceParam(since, engineNow()) !== from
    setRenewals(count => count + 1)
    return renew(...others, ...(hasMoved ? [] : windowed))
  }, options)
  return from
}
