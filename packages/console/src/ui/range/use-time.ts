// A time of the URL in the engine's form.

import { useMemo } from 'react'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { useUtc } from '../../data/time/zone.ts'

/**
 * Returns the time. A relative time is resolved again only when the URL or the zone changes; an invalid one is passed on, and the
 * engine explains the refusal.
 */
export function useTime(value: string | undefined): string | undefined {
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: days begin at other times in the other zone.
  return useMemo(() => sinceParam(value, engineNow()) ?? value, [value, isUtc])
}
