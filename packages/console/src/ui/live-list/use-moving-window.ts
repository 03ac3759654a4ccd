// The window of time of a page with statistics: it moves on with the time when runs have moved, and what was read of it is read again.

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

/** The start of the window: anew when the URL changes, and with each renewal. */
export function useMovingWindow(since: string, { windowed, others, ...options }: MovingWindowOptions) {
  const [renewals, setRenewals] = useState(0)
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a renewal moves the window, and the zone moves days.
  const from = useMemo(() => sinceParam(since, engineNow()), [since, renewals, isUtc])
  useRenewal(() => {
    // With another start the reads of the window have another input, and are made for that.
    const hasMoved = sinceParam(since, engineNow()) !== from
    setRenewals(count => count + 1)
    return renew(...others, ...(hasMoved ? [] : windowed))
  }, options)
  return from
}
