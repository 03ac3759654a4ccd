// API keys, looked up by hash: neither the timing of a lookup nor a dump of the tables reveals a key. Used by the HTTP
// interface and by services/admin/administration.

import { createHash, randomBytes } from 'node:crypto'
import type { ApiKey, KeyKind, StoredKey } from '../../domain/model/api-key.ts'

/** A key, and its id among those of the engine: several may have one label. */
type FoundKey = ApiKey & Pick<StoredKey, 'id'>

/** The keys that count now: the fixed ones, and those of the store as it was last read. */
export class KeyRing {
  readonly #fixed: ReadonlyMap<string, FoundKey>
  readonly #loopback: boolean
  #stored: ReadonlyMap<string, FoundKey> = new Map()
  #everStored = false
  readonly #listeners = new Set<() => void>()

  /** `loopback`: only this machine can connect; otherwise keys are always required. `fixed`: those of the configuration. */
  constructor({ fixed, loopback }: { fixed: readonly (ApiKey & { key: string })[]; loopback: boolean }) {
    this.#fixed = new Map(
      fixed.map(({ key, ...entry }, i) => [hashKey(key), { ...entry, id: `ENGINE_API_KEYS[${i}]` }]),
    )
    this.#loopback = loopback
  }

  /** Replaces the keys of the store. */
  replaceStored(keys: readonly StoredKey[]): void {
    const live = keys.filter(({ revokedAt }) => revokedAt === undefined)
    this.#stored = new Map(live.map(({ hash, id, label, namespace, kind }) => [hash, { id, label, namespace, kind }]))
    this.#everStored = keys.length > 0
    for (const listener of this.#listeners) listener()
  }

  /** Calls `listener` whenever the keys may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Whether no key was ever made: then everyone on this machine may do everything (docs/operating.md#without-keys). A revoked
   * key still counts, because revoking a key must never open the engine.
   */
  get open(): boolean {
    return this.#loopback && this.#fixed.size === 0 && !this.#everStored
  }

  /** How many keys open something. */
  get size(): number {
    return this.#fixed.size + this.#stored.size
  }

  find(secret: string): FoundKey | undefined {
    const hash = hashKey(secret)
    return this.#fixed.get(hash) ?? this.#stored.get(hash)
  }
}

/** The stored form of a key. A key has 256 random bits, so its plain digest cannot be reversed by guessing. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64')
}

/** A new key: `pdk_<kind>_` and 256 random bits. */
export function newKey(kind: KeyKind): string {
  return `pdk_${kind}_${randomBytes(32).toString('base64url')}`
}
