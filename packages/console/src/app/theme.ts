// The theme: the system's, or light or dark as chosen in this browser.

import { browserStorage } from '../data/storage/storage.ts'

const KEY = 'perdure.theme'
const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

function isTheme(text: string | null): text is Theme {
  return THEMES.includes(text as Theme)
}

function currentTheme(): Theme {
  const kept = browserStorage.getItem(KEY)
  return isTheme(kept) ? kept : 'system'
}

/** Shows the page in the stored theme. Called before the first paint. */
export function applyTheme(): void {
  const theme = currentTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Switches to the next theme, and returns it. */
export function nextTheme(): Theme {
  const next = THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length] as Theme
  browserStorage.setItem(KEY, next)
  applyTheme()
  return next
}
