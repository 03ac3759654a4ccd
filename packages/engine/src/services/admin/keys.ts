// API keys, looked up by hash: neither the timing of a lookup nor a dump of the tables reveals a key. Used by the HTTP
// interface and by services/admin/administration.

import { createHash, randomBytes } from 'node:crypto'
import { type ApiKey, isLasting, type KeyKind, type StoredKey } from '../../domain/model/api-key.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { timestamp } from '../../domain/text/timestamp.ts'

/** A key with its id on the engine: several keys may have one label. */
export type FoundKey = ApiKey & Pick<StoredKey, 'id' | 'expiresAt'>

/** The keys that count now: the fixed ones, and the stored ones as they were last read. */
export class KeyRing {
  /** By hash, like the others. */
  readonly #fixed: ReadonlyMap<string, FoundKey>
  readonly #loopback: boolean
  #stored: readonly StoredKey[] = []
  #lasting: ReadonlyMap<string, FoundKey> = new Map()
  #sessions: ReadonlyMap<string, FoundKey> = new Map()
  /** When keys that people made expired, by hash. Revoked keys are not in it. */
  #expired: ReadonlyMap<string, number> = new Map()
  /** The next time at which a key or a session ends. */
  #nextEnd = Number.POSITIVE_INFINITY
  /** The hashes of the keys by their ids; ended sessions are included. */
  #hashes: ReadonlyMap<string, string> = new Map()
  #everStored = false
  /** Ids of stored keys that were found since the last `takeUsed`. */
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

  /** Replaces the keys of the store. Keys that have ended at `now` open nothing. */
  replaceStored(keys: readonly StoredKey[], now = 0): void {
    this.#stored = keys
    this.#everStored = keys.length > 0
    this.#arrange(now)
  }

  /** Sets what `reread` calls. */
  rereadWith(reread: () => Promise<void>): void {
    this.#reread = reread
  }

  /** Reads the keys that the store has now: another engine, or the `perdure` command, may just have made one. */
  reread(): Promise<void> {
    return this.#reread()
  }

  /** Ends the keys and sessions whose time is over. */
  expire(now: number): void {
    if (this.#nextEnd <= now) this.#arrange(now)
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

  /** How many keys are valid now. */
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

  /** The valid key or session with this id. */
  holder(id: string): (FoundKey & Pick<StoredKey, 'hash'>) | undefined {
    const hash = this.#hashes.get(id)
    if (hash === undefined) return undefined
    const key = this.#lasting.get(hash) ?? this.#fixed.get(hash) ?? this.#sessions.get(hash)
    return key && { ...key, hash }
  }

  /** When the key, or the session of a token, ends; undefined if it does not end by itself. */
  expiresAt(secret: string): number | undefined {
    return this.find(secret)?.expiresAt
  }

  /** The error for a key that is not valid. For an expired key it contains the time of expiry. */
  refusalOf(secret: string | undefined): EngineError {
    const at = secret === undefined ? undefined : this.#expired.get(hashKey(secret))
    if (at === undefined) return new EngineError('unauthorized', 'the API key is not valid')
    return new EngineError('unauthorized', `the API key expired at ${timestamp(at)}`)
  }

  /** Finds a key that people made by its text; no session and no code. */
  findLasting(secret: string): (FoundKey & Pick<StoredKey, 'hash'>) | undefined {
    const hash = hashKey(secret)
    const key = this.#fixed.get(hash) ?? this.#lasting.get(hash)
    return key && { ...key, hash }
  }

  #arrange(now: number): void {
    const valid = this.#stored.filter(({ revokedAt, isCode }) => revokedAt === undefined && !isCode)
    const live = valid.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > now)
    const found = ({ id, label, namespace, kind, expiresAt }: StoredKey): FoundKey => ({
      ...{ id, label, namespace, kind },
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    this.#lasting = new Map(live.filter(isLasting).map(key => [key.hash, found(key)]))
    const sessions = live.filter(key => !isLasting(key) && key.expiresAt !== undefined)
    this.#sessions = new Map(
      sessions
        .filter(({ parentHash = '' }) => this.#fixed.has(parentHash) || this.#lasting.has(parentHash))
        .map(key => [key.hash, found(key)]),
    )
    this.#expired = new Map(
      valid.flatMap(key =>
        isLasting(key) && key.expiresAt !== undefined && key.expiresAt <= now ? [[key.hash, key.expiresAt]] : [],
      ),
    )
    this.#nextEnd = live.reduce((next, { expiresAt = next }) => Math.min(next, expiresAt), Number.POSITIVE_INFINITY)
    this.#hashes = this.#hashesById()
    this.#notify()
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
