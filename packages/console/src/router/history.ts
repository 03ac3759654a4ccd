// The address bar as a store: the current URL, read, and the ways to change it. Scroll positions, selections and the like are
// kept in the entries of the history, so that back and forward restore them.

import { CONSOLE_ROOT } from './base.ts'
import { type Match, parseUrl } from './routes.ts'

/** The element that scrolls, which the shell marks. */
const SCROLLER = '[data-scroller]'

export interface Location {
  match: Match
  /** How the page was reached: `back` restores scroll, `push` starts on top, `replace` changes nothing. */
  cause: 'push' | 'replace' | 'back'
}

let current: Location = { match: read(), cause: 'push' }
const listeners = new Set<() => void>()

function read(): Match {
  const { pathname, search } = window.location
  return pathname.startsWith(CONSOLE_ROOT) ? parseUrl(pathname.slice(CONSOLE_ROOT.length), search) : { kind: 'unknown' }
}

function changed(cause: Location['cause']): void {
  current = { match: read(), cause }
  for (const listener of listeners) listener()
}

/** The current location; the same object until it changes. */
export const currentLocation = (): Location => current

/** Calls `listener` after every change of the location. Returns the way to stop that. */
export function onLocation(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Goes to a URL of the console, relative to its root. */
export function navigate(url: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(history.state, '', CONSOLE_ROOT + url)
  else {
    rememberScroll()
    history.pushState(null, '', CONSOLE_ROOT + url)
  }
  changed(replace ? 'replace' : 'push')
}

function rememberScroll(): void {
  const scroller = document.querySelector(SCROLLER)
  if (scroller) keep('scroll', scroller.scrollTop)
}

/** The scroll position to restore on this entry of the history. */
export const rememberedScroll = (): number => kept<number>('scroll') ?? 0

/** Keeps a value in this entry of the history, until the tab is closed. */
export function keep(name: string, value: unknown): void {
  history.replaceState({ ...history.state, [name]: value }, '')
}

/** The value that this entry of the history keeps. */
export function kept<Value>(name: string): Value | undefined {
  return ((history.state ?? {}) as Record<string, Value>)[name]
}

history.scrollRestoration = 'manual'
window.addEventListener('popstate', () => changed('back'))
