// The tokens of this tab, one per namespace: in memory, and in the tab's session storage for reloads. Pasted keys are never
// kept. A token that unlocks actions is in memory only.

import { tabStorage } from '../data/storage/storage.ts'

const PREFIX = 'perdure.session.'

/** The token of a namespace's session; undefined when this tab has none. */
export function tokenOf(namespace: string): string | undefined {
  return tabStorage.getItem(PREFIX + namespace) ?? undefined
}

export function keepToken(namespace: string, token: string): void {
  tabStorage.setItem(PREFIX + namespace, token)
}

export function forgetToken(namespace: string): void {
  tabStorage.removeItem(PREFIX + namespace)
}

/** The namespaces that this tab is signed in to. */
export function signedInNamespaces(): string[] {
  return Object.keys(tabStorage)
    .filter(key => key.startsWith(PREFIX))
    .map(key => key.slice(PREFIX.length))
    .sort()
}
