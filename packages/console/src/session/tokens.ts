// The tokens of this tab, one per namespace: in memory, and in the tab's session storage for reloads. Pasted keys are never
// stored. A token that unlocks actions is only in memory.

import { tabStorage } from '../data/storage/storage.ts'

const PREFIX = 'perdure.session.'

/** Returns the token of a namespace's session; undefined if this tab has none. */
export function tokenOf(namespace: string): string | undefined {
  return tabStorage.getItem(PREFIX + namespace) ?? undefined
}

export function keepToken(namespace: string, token: string): void {
  tabStorage.setItem(PREFIX + namespace, token)
}

export function forgetToken(namespace: string): void {
  tabStorage.removeItem(PREFIX + namespace)
}

/** Returns the namespaces that this tab is signed in to. */
export function signedInNamespaces(): string[] {
  return Object.keys(tabStorage)
    .filter(key => key.startsWith(PREFIX))
    .map(key => key.slice(PREFIX.length))
    .sort()
}
