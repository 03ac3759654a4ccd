// Creates and revokes API keys, and suspends and resumes namespaces: the use cases of `perdure keys` and
// `perdure namespaces`.

import { isLasting, type KeyKind, type Namespace, nameFault, type StoredKey } from '../../domain/model/api-key.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { TIMESTAMP_MS_MAX } from '../../domain/text/timestamp.ts'
import type { Admin } from '../../ports/admin.ts'
import type { Core } from '../commit/core.ts'
import { hashKey, newKey } from './keys.ts'

/** Engines keep every live key in memory. */
const LIVE_KEYS_MAX = 10_000

export interface AdministrationDeps extends Pick<Core, 'clock' | 'ids'> {
  admin: Admin
}

export interface KeyRequest {
  kind: KeyKind
  /** Absent: the key's id. */
  label?: string | undefined
  /** Absent: `default`. */
  namespace?: string | undefined
  /** The key is refused from this time on; absent: it does not expire. */
  expiresAt?: number | undefined
}

export class Administration {
  readonly #deps: AdministrationDeps

  constructor(deps: AdministrationDeps) {
    this.#deps = deps
  }

  /** Makes a key. Only this answer contains the key itself. */
  async createKey(request: KeyRequest): Promise<{ stored: StoredKey; key: string }> {
    const made = await makeKey(this.#deps, request)
    await this.#deps.admin.addKey(made.stored)
    return made
  }

  /** The keys that people made; sessions are not listed. */
  async keys(): Promise<StoredKey[]> {
    return (await this.#deps.admin.keys()).filter(isLasting)
  }

  /** Revoking a key again changes nothing. */
  async revokeKey(id: string): Promise<StoredKey> {
    // Not repeated in the message: it may be a key itself.
    if (!/^key_[0-9A-Z]{26}$/.test(id)) {
      throw invalid('id', 'must be the id of an API key (key_...), not the key: see perdure keys list')
    }
    const { admin, clock } = this.#deps
    return found(await admin.revokeKey(id, clock.now()), `there is no API key ${id}`)
  }

  namespaces(): Promise<Namespace[]> {
    return this.#deps.admin.namespaces()
  }

  /** No run is started in the namespace until it is resumed. Suspending it again changes nothing. */
  async suspend(name: string): Promise<Namespace> {
    checkName('namespace', name)
    const { admin, clock } = this.#deps
    return found(await admin.suspend(name, clock.now()), noNamespace(name))
  }

  async resume(name: string): Promise<Namespace> {
    checkName('namespace', name)
    return found(await this.#deps.admin.resume(name), noNamespace(name))
  }
}

/** Makes a key that is not stored yet. Throws if a name is not valid, or if there is no room for another key. */
export async function makeKey(
  { admin, clock, ids }: AdministrationDeps,
  request: KeyRequest,
): Promise<{ stored: StoredKey; key: string }> {
  const createdAt = clock.now()
  const id = ids.next('key', createdAt)
  const { kind, label = id, namespace = 'default', expiresAt } = request
  checkName('label', label)
  checkName('namespace', namespace)
  if (expiresAt !== undefined && expiresAt <= createdAt) throw invalid('expiresAt', 'must be in the future')
  if (expiresAt !== undefined && expiresAt > TIMESTAMP_MS_MAX)
    throw invalid('expiresAt', 'must not be after the year 9999, in UTC')
  const live = (await admin.keys()).filter(
    ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }) => revokedAt === undefined && expiresAt > createdAt,
  )
  if (live.length >= LIVE_KEYS_MAX) {
    throw new EngineError('conflict', `there are ${live.length} API keys, the maximum: revoke some`)
  }
  const key = newKey(kind)
  const end = expiresAt === undefined ? {} : { expiresAt }
  return { stored: { id, namespace, label, kind, hash: hashKey(key), createdAt, ...end }, key }
}

function checkName(field: string, value: string): void {
  const fault = nameFault(value)
  if (fault !== undefined) throw invalid(field, fault)
}

function noNamespace(name: string): string {
  return `there is no namespace ${name}: see perdure namespaces list`
}

function found<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new EngineError('not_found', otherwise)
  return value
}
