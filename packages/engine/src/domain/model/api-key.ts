// API keys and their namespaces (docs/operating.md#keys-and-namespaces).

import { hasForbiddenCharacters, isBlank } from '../text/name.ts'

export const KEY_KINDS = ['secret', 'read', 'event', 'runner'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** Longest label and namespace name, in characters. Namespaces are part of every index of names (`bounded-key.ts`). */
const NAME_LENGTH_MAX = 128

/** Describes the problem with a label or the name of a namespace; undefined if there is none. */
export function nameFault(name: string): string | undefined {
  if (isBlank(name)) return 'must not be blank'
  if (name.length > NAME_LENGTH_MAX) return `must not be longer than ${NAME_LENGTH_MAX} characters`
  return hasForbiddenCharacters(name) ? 'must not have control characters or lone surrogates' : undefined
}

export interface ApiKey {
  /** Recorded in the audit log as the actor. */
  label: string
  namespace: string
  kind: KeyKind
}

/** An API key as stored. The key itself is shown once, when it is created, and is not stored. */
export interface StoredKey extends ApiKey {
  id: string
  /** `hashKey` of the key. */
  hash: string
  createdAt: number
  /** The key is refused from this time on. */
  revokedAt?: number
}

export interface Namespace {
  name: string
  createdAt: number
  /** No new run starts in the namespace from this time on. */
  suspendedAt?: number
}
