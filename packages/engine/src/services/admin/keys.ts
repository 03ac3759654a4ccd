// API keys, looked up by hash: neither the timing of a lookup nor a dump of the tables reveals a key. Used by the HTTP
// interface and by services/admin/administration.

import { createHash, randomBytes } from 'node:crypto'
import { type ApiKey, isLasting, type KeyKind, type StoredKey } from '../../domain/model/api-key.ts'

/** A key, and its id among those of the engine: several may have one label. */
export type FoundKey = ApiKey & Pick<StoredKey, 'id'>

/** The keys that count now: the fixed ones, and those of the store as it was last read. */
export class KeyRing {
  /** By hash, like the others. */
  readonly #fixed: ReadonlyMap<string, FoundKey>
  readonly #loopback: boolean
  #lasting: ReadonlyMap<string, FoundKey> = new Map()
  #sessions: ReadonlyMap<string, FoundKey & { expiresAt: number }> = new Map()
  /** The hashes of the keys by their ids; sessions that have ended are in it, too. */
  #hashes: ReadonlyMap<string, string> = new Map()
  #everStored = false
  /** Ids of stored keys that were found since they were last taken. */
  #used = new Set<string>()
  readonly #listeners = new Set<() => void>()
  #reread: () => Promise<void> = async () => {}

  /** `loopback`: only this machine can connect; otherwise keys are always required. `fixed`: those of the configuration. */
  constructor({ fixed, loopback }: { fixed: readonly (ApiKey & { key: string })[]; loopback: boolean }) {
    this.#fixed = new Map(
      fixed.map(({ key, ...entry }, i) => [hashKey(key), { ...entry, id: `ENGINE_API_KEYS[${i}]` }]),
    )
    this.#loopback = loopback
    this.#hashes = this.#hashesById()
  }

  /** Replaces the keys of the store. */
  replaceStored(keys: readonly StoredKey[]): void {
    const live = keys.filter(({ revokedAt, isCode }) => revokedAt === undefined && !isCode)
    const found = ({ id, label, namespace, kind }: StoredKey): FoundKey => ({ id, label, namespace, kind })
    this.#lasting = new Map(live.filter(isLasting).map(key => [key.hash, found(key)]))
    this.#sessions = new Map(
      live
        .filter(({ parentHash = '' }) => this.#fixed.has(parentHash) || this.#lasting.has(parentHash))
        .map(key => [key.hash, { ...found(key), expiresAt: key.expiresAt ?? 0 }]),
    )
    this.#hashes = this.#hashesById()
    this.#everStored = keys.length > 0
    this.#notify()
  }

  /** Sets what `reread` calls. */
  rereadWith(reread: () => Promise<void>): void {
    this.#reread = reread
  }

  /** Takes over the keys that the store has now: another engine, or the `perdure` command, may just have made one. */
  reread(): Promise<void> {
    return this.#reread()
  }

  /** Ends the sessions whose time is over. */
  expire(now: number): void {
    const open = [...this.#sessions].filter(([, { expiresAt }]) => expiresAt > now)
    if (open.length === this.#sessions.size) return
    this.#sessions = new Map(open)
    this.#notify()
  }

  /** The ids of the stored keys that were found since the last call. */
  takeUsed(): string[] {
    const used = [...this.#used]
    this.#used = new Set()
    return used
  }

  /** Calls `listener` whenever the keys may have changed, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Whether no key was ever made: then everyone on this machine may do everything (docs/security.md#without-keys). A revoked
   * key still counts, because revoking a key must never open the engine.
   */
  get open(): boolean {
    return this.#loopback && this.#fixed.size === 0 && !this.#everStored
  }

  /** How many keys open something. */
  get size(): number {
    return this.#fixed.size + this.#lasting.size
  }

  /** The keys of the configuration. */
  get fixed(): FoundKey[] {
    return [...this.#fixed.values()]
  }

  find(secret: string): FoundKey | undefined {
    const hash = hashKey(secret)
    const stored = this.#lasting.get(hash)
    if (stored) this.#used.add(stored.id)
    return stored ?? this.#fixed.get(hash) ?? this.#sessions.get(hash)
  }

  /** The key, or the session, that has the id and opens something now. */
  holder(id: string): (FoundKey & Pick<StoredKey, 'hash'>) | undefined {
    const hash = this.#hashes.get(id)
    if (hash === undefined) return undefined
    const key = this.#lasting.get(hash) ?? this.#fixed.get(hash) ?? this.#sessions.get(hash)
    return key && { ...key, hash }
  }

  /** When the session of a token ends; undefined for other keys. */
  expiresAt(secret: string): number | undefined {
    return this.#sessions.get(hashKey(secret))?.expiresAt
  }

  /** A key that people made, by its own text: no session and no code. */
  findLasting(secret: string): (FoundKey & Pick<StoredKey, 'hash'>) | undefined {
    const hash = hashKey(secret)
    const key = this.#fixed.get(hash) ?? this.#lasting.get(hash)
    return key && { ...key, hash }
  }

  #hashesById(): Map<string, string> {
    const all = [...this.#fixed, ...this.#lasting, ...this.#sessions]
    return new Map(all.map(([hash, { id }]) => [id, hash]))
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** The stored form of a key. A key has 256 random bits, so its plain digest cannot be reversed by guessing. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64')
}

/** A new key, token of a session, or code: `pdk_<kind>_` and 256 random bits. */
export function newKey(kind: KeyKind | 'session' | 'code'): string {
  return `pdk_${kind}_${randomBytes(32).toString('base64url')}`
}
