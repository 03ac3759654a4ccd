// The links that `y` and `Y` copy: that of the page, and one whose windows of time do not move.

import { startOf } from '../data/time/window.ts'

/** The address with every relative window (`since=24h`) as the time at which it begins now. */
export function pinnedUrl(url: string, nowMs: number): string {
  const pinned = new URL(url)
  for (const name of ['since', 'until']) {
    const value = pinned.searchParams.get(name)
    const at = value === null || !/^\d{1,6}[smhd]$/.test(value) ? undefined : startOf(value, nowMs)
    if (at !== undefined) pinned.searchParams.set(name, new Date(at).toISOString())
  }
  pinned.search = pinned.search.replaceAll('%3A', ':')
  return pinned.href
}
