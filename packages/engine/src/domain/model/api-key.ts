// API keys and their namespaces (docs/security.md#keys-and-namespaces).

import { KEY_KINDS } from '@perdure/protocol'
import { hasForbiddenCharacters, isBlank } from '../text/name.ts'

export { KEY_KINDS }
export type KeyKind = (typeof KEY_KINDS)[number]

/**
 * Maximum length of a label or a namespace name, in characters. Namespaces are part of every index of names (`bounded-key.ts`).
 */
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

/**
 * A stored API key: made by `keys create`, or the token of a console session, or a code that is exchanged for such a token. The
 * key itself is shown once, at its creation, and is not stored.
 */
export interface StoredKey extends ApiKey {
  id: string
  /** `hashKey` of the key. */
  hash: string
  createdAt: number
  /** The key is refused after this time. */
  revokedAt?: number
  /** Sessions and codes: the hash of the key that opened it. It is refused once that key is refused. */
  parentHash?: string
  /** It is refused after this time. Sessions and codes always have such a time. */
  expiresAt?: number
  /** It is a code: it only opens one session. */
  isCode?: boolean | undefined
  /** The minute of the last request with the key, as it was last written. */
  lastUsedAt?: number
}

/** Whether people made the key; false for sessions and codes. */
export function isLasting({ parentHash }: StoredKey): boolean {
  return parentHash === undefined
}

export interface Namespace {
  name: string
  createdAt: number
  /** After this time no new run starts in the namespace. */
  suspendedAt?: number
}
