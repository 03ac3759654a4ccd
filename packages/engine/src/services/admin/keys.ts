// API keys, looked up by hash: neither a timing nor a dump of this process's tables gives a key away.

import { createHash, randomBytes } from 'node:crypto'
import type { ApiKey, KeyKind, StoredKey } from '../../domain/model/api-key.ts'

export interface KeyRingOptions {
  /** Keys of the configuration. */
  fixed: readonly (ApiKey & { key: string })[]
  /** Whether only this machine can connect: otherwise the ring is never open. */
  loopback: boolean
}

/** The keys that count now: the fixed ones, and those of the store as it was last read. */
export class KeyRing {
  readonly #fixed: ReadonlyMap<string, ApiKey>
  readonly #loopback: boolean
  #stored: ReadonlyMap<string, ApiKey> = new Map()
  #everStored = false
  readonly #listeners = new Set<() => void>()

  constructor({ fixed, loopback }: KeyRingOptions) {
    this.#fixed = new Map(fixed.map(({ key, ...entry }) => [hashKey(key), entry]))
    this.#loopback = loopback
  }

  /** Takes over the keys of the store. */
  replaceStored(keys: readonly StoredKey[]): void {
    const live = keys.filter(({ revokedAt }) => revokedAt === undefined)
    this.#stored = new Map(live.map(({ hash, label, namespace, kind }) => [hash, { label, namespace, kind }]))
    this.#everStored = keys.length > 0
    for (const tell of this.#listeners) tell()
  }

  /** Calls `tell` whenever the keys may have changed, until the returned function is called. */
  onChange(tell: () => void): () => void {
    this.#listeners.add(tell)
    return () => this.#listeners.delete(tell)
  }

  /**
   * No key was ever made: then everyone on this machine may do everything. A revoked key still counts, because
   * taking a key back must never open a door.
   */
  get open(): boolean {
    return this.#loopback && this.#fixed.size === 0 && !this.#everStored
  }

  /** How many keys open something. */
  get size(): number {
    return this.#fixed.size + this.#stored.size
  }

  find(secret: string): ApiKey | undefined {
    const hash = hashKey(secret)
    return this.#fixed.get(hash) ?? this.#stored.get(hash)
  }
}

/** What is kept of a key. It has 256 random bits, so a plain digest cannot be reversed by guessing. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64')
}

/** A new key: `pdk_<kind>_` and 256 random bits. */
export function newKey(kind: KeyKind): string {
  return `pdk_${kind}_${randomBytes(32).toString('base64url')}`
}
