// API keys and the namespaces they open (contract §5; decisions, "Errors, limits, auth").

export const KEY_KINDS = ['secret', 'read', 'event', 'runner'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** Longest label and namespace name, in characters. Namespaces are part of every index of names (`bounded-key.ts`). */
const NAME_LENGTH_MAX = 128
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** What is wrong with a label or the name of a namespace, if anything. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'must not be blank'
  if (name.length > NAME_LENGTH_MAX) return `must not be longer than ${NAME_LENGTH_MAX} characters`
  return FORBIDDEN.test(name) ? 'must not have control characters or lone surrogates' : undefined
}

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
