// The theme for drawing on a canvas: colours are resolved when it is drawn.

import { useSyncExternalStore } from 'react'

const dark = matchMedia('(prefers-color-scheme: dark)')

function follow(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  dark.addEventListener('change', listener)
  return () => {
    observer.disconnect()
    dark.removeEventListener('change', listener)
  }
}

/** Returns a text that differs when the colours change. */
export function useTheme(): string {
  return useSyncExternalStore(follow, () => `${document.documentElement.dataset.theme ?? ''} ${dark.matches}`)
}
