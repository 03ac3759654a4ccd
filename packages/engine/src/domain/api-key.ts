// API keys and the namespaces they open (contract §5; decisions, "Errors, limits, auth").

export const KEY_KINDS = ['secret', 'read', 'event', 'runner'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

export interface ApiKey {
  /** Recorded as the actor of what the key does. */
  label: string
  namespace: string
  kind: KeyKind
}

/** A key of the store. The key itself is shown when it is made and kept nowhere. */
export interface StoredKey extends ApiKey {
  id: string
  /** Of the key, by `hashKey`. */
  hash: string
  createdAt: number
  /** From then on it opens nothing. */
  revokedAt?: number
}

export interface Namespace {
  name: string
  createdAt: number
  /** Since then no new run is started in it. */
  suspendedAt?: number
}
