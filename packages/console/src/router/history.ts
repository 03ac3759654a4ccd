// The address bar as a store: the current URL, read, and the functions that change it. Scroll positions, selections and the like
// are kept in the entries of the history, so that back and forward restore them.

import { CONSOLE_ROOT } from './base.ts'
import { type Match, parseUrl } from './routes.ts'

/** The element that scrolls. The shell marks it. */
const SCROLLER = '[data-scroller]'
const WRITE_REST_MS = 100
/** Maximum number of earlier paths that an entry keeps. */
const TRAIL_MAX = 20

export interface Location {
  match: Match
  /** How the page was reached: `back` restores the scroll position, `push` starts at the top, `replace` changes nothing. */
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

/** Returns the current location; the same object until it changes. */
export const currentLocation = (): Location => current

/** Calls `listener` after every change of the location. Returns the function that stops it. */
export function onLocation(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Goes to a URL of the console, relative to its root. */
export function navigate(url: string, { replace = false }: { replace?: boolean } = {}): void {
  const target = CONSOLE_ROOT + url
  if (!replace) rememberScroll()
  writeKept(replace ? target : undefined)
  if (!replace) history.pushState({ trail: [...trail(), window.location.pathname].slice(-TRAIL_MAX) }, '', target)
  changed(replace ? 'replace' : 'push')
}

/** Returns the paths of the entries before this one, the nearest last. */
const trail = (): string[] => kept<string[]>('trail') ?? []

/** Goes back to the newest entry with the path of the URL, in its last state. If there is none, goes to the URL. */
export function navigateUp(url: string): void {
  const entries = trail()
  const at = entries.lastIndexOf(new URL(CONSOLE_ROOT + url, window.location.origin).pathname)
  if (at < 0) navigate(url)
  else history.go(at - entries.length)
}

function rememberScroll(): void {
  const scroller = document.querySelector(SCROLLER)
  if (scroller) keep('scroll', scroller.scrollTop)
}

/** Returns the scroll position to restore on this entry of the history. */
export const rememberedScroll = (): number => kept<number>('scroll') ?? 0

/** Values of this entry that are not written to it yet. */
let unwritten: Record<string, unknown> = {}
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * Keeps a value in this entry of the history, until the tab is closed. Values are written together once no other has followed for
 * a while: a write takes 2 ms, and browsers refuse some hundred in a row.
 */
export function keep(name: string, value: unknown): void {
  unwritten[name] = value
  clearTimeout(timer)
  timer = setTimeout(writeKept, WRITE_REST_MS)
}

/** Writes the values to the entry, which then has this URL. */
function writeKept(url?: string): void {
  history.replaceState(stateNow(), '', url)
  dropUnwritten()
}

function dropUnwritten(): void {
  clearTimeout(timer)
  unwritten = {}
}

const stateNow = (): Record<string, unknown> => ({ ...history.state, ...unwritten })

/** Returns the value that this entry of the history keeps. */
export const kept = <Value>(name: string): Value | undefined => stateNow()[name] as Value | undefined

history.scrollRestoration = 'manual'
window.addEventListener('pagehide', () => writeKept())
window.addEventListener('popstate', () => {
  // These values belong to the previous entry, which cannot be written any more.
  dropUnwritten()
  changed('back')
})
