// Facts of the screen that layouts depend on in code.

import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 1500px)')
const still = matchMedia('(prefers-reduced-motion: reduce)')

const following = (media: MediaQueryList) => (listener: () => void) => {
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}
const followWide = following(wide)
const followStill = following(still)

/** Whether there is room for a column beside a list. */
export function useWide(): boolean {
  return useSyncExternalStore(followWide, () => wide.matches)
}

/** Whether the person wants nothing to move by itself. */
export function useReducedMotion(): boolean {
  return useSyncExternalStore(followStill, () => still.matches)
}
