// Resolves ids of any kind to pages: for `/console/go/{id}`, which logs and the command link to, and for the palette.

import type { Target } from '../router/router.tsx'

const PAGES: Readonly<Record<string, (id: string) => Target>> = {
  run: id => ({ to: 'run', params: { id } }),
  evt: id => ({ to: 'event', params: { id } }),
  dlv: id => ({ to: 'delivery', params: { id } }),
  whe: id => ({ to: 'endpoint', params: { id } }),
  whr: id => ({ to: 'receiver', params: { id } }),
  blk: id => ({ to: 'bulk', params: { id } }),
  act: id => ({ to: 'audit', query: { action: id } }),
  key: () => ({ to: 'keys' }),
}

/** The page of an id; undefined for a text that is none. */
export function targetOfId(id: string): Target | undefined {
  const [, prefix = ''] = /^([a-z]{3})_[A-Za-z0-9_-]{1,128}$/.exec(id) ?? []
  return PAGES[prefix]?.(id)
}
