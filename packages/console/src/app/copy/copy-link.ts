// The link that `Y` copies: the page's link, with fixed windows of time.

import { DAYS, sinceParam } from '../../data/time/window.ts'
import { PARAMETERS } from '../../router/parameters.ts'
import type { Match, RouteName } from '../../router/routes.ts'

/** The default window of a page, if its URL has none. */
const DEFAULT_WINDOWS: { readonly [Name in RouteName]?: string } = {
  overview: '24h',
  workflows: '24h',
  workflow: '24h',
  endpoint: '24h',
  errors: '24h',
  errorGroup: '30d',
}

const isRelative = (value: string) => /^\d{1,6}[smhd]$/.test(value) || DAYS.includes(value)
/** Whether the text is a date or a time without a zone, so that the zone of the console applies. */
const isZoned = (value: string) => /^[\d-]{10}([T ][\d:.]+)?$/.test(value)

/**
 * Returns the address with each relative window (`since=24h`) replaced by the time at which it begins now, and with its end if
 * the page has one.
 */
export function pinnedUrl(url: string, match: Match, nowMs: number): string {
  const pinned = new URL(url)
  const { searchParams } = pinned
  const name = match.kind === 'page' ? match.name : undefined
  const since = searchParams.get('since') ?? (name && DEFAULT_WINDOWS[name])
  const until = searchParams.get('until')
  const pin = (key: string, value: string) => searchParams.set(key, sinceParam(value, nowMs) ?? value)
  if (since !== undefined && isZoned(since)) pin('since', since)
  if (since !== undefined && isRelative(since)) {
    pin('since', since)
    const hasEnd = name !== undefined && (PARAMETERS[name] as readonly string[]).includes('until')
    if (hasEnd && until === null) searchParams.set('until', new Date(nowMs).toISOString())
  }
  if (until !== null && (isRelative(until) || isZoned(until))) pin('until', until)
  pinned.search = pinned.search.replaceAll('%3A', ':')
  return pinned.href
}
