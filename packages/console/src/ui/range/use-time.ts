// A time of the URL as the engine takes it.

import { useMemo } from 'react'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { useUtc } from '../../data/time/zone.ts'

/** The time; a relative one begins anew only when the URL or the zone changes. The engine refuses what is no time, with the reason. */
export function useTime(value: string | undefined): string | undefined {
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: days begin at other times in the other zone.
  return useMemo(() => sinceParam(value, engineNow()) ?? value, [value, isUtc])
}
