// Facts about the screen that layouts need in code.

import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 1500px)')
const still = matchMedia('(prefers-reduced-motion: reduce)')

const following = (media: MediaQueryList) => (listener: () => void) => {
  media.addEventListener('change', listener)
  return () => media.removeEventListener('change', listener)
}
const followWide = following(wide)
const followStill = following(still)

/** Whether there is space for a column next to a list. */
export function useWide(): boolean {
  return useSyncExternalStore(followWide, () => wide.matches)
}

/** Whether the user prefers that nothing moves by itself. */
export function useReducedMotion(): boolean {
  return useSyncExternalStore(followStill, () => still.matches)
}
