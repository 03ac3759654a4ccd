// The API keys of a namespace, as the namespace's callers see and change them over HTTP. Each change is in the audit log.

import { isLasting, type StoredKey } from '../../domain/model/api-key.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { timestamp } from '../../domain/text/timestamp.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { type AdministrationDeps, type KeyRequest, makeKey } from './administration.ts'
import type { FoundKey, KeyRing } from './keys.ts'

export interface NamespaceKeysDeps extends AdministrationDeps, Pick<Core, 'audit'> {
  keys: KeyRing
  /** Reads at once what was written. */
  refresh(): Promise<void>
}

export class NamespaceKeys {
  readonly #deps: NamespaceKeysDeps

  constructor(deps: NamespaceKeysDeps) {
    this.#deps = deps
  }

  /** The keys of the store, revoked ones included, oldest first. */
  async stored(namespace: string): Promise<StoredKey[]> {
    const keys = await this.#deps.admin.keys()
    return keys.filter(key => key.namespace === namespace && isLasting(key))
  }

  /** The keys of the configuration. */
  fixed(namespace: string): FoundKey[] {
    return this.#deps.keys.fixed.filter(key => key.namespace === namespace)
  }

  /** Makes a key of the caller's namespace. Only this answer contains the key itself. */
  async create(actor: Actor, request: Omit<KeyRequest, 'namespace'>): Promise<{ stored: StoredKey; key: string }> {
    const made = await makeKey(this.#deps, { ...request, namespace: actor.namespace })
    const { id, kind, label, expiresAt } = made.stored
    const ends = expiresAt === undefined ? {} : { expiresAt: timestamp(expiresAt) }
    const unit = { guards: [], changes: [{ type: 'key.created' as const, key: made.stored }] }
    await this.#deps.audit.commit(actor, unit, {
      action: 'key.create',
      detail: JSON.stringify({ id, kind, label, ...ends }),
    })
    await this.#deps.refresh()
    return made
  }

  /** Revokes a key of the store. Revoking it again changes nothing. Sessions that the key opened end with it. */
  async revoke(actor: Actor, id: string): Promise<void> {
    const { clock, refresh, audit } = this.#deps
    const { namespace } = actor
    const key = (await this.stored(namespace)).find(one => one.id === id)
    // The message does not repeat the id: it may be a key itself.
    if (!key) throw new EngineError('not_found', 'the namespace has no API key with this id')
    if (key.revokedAt !== undefined) return
    const unit = { guards: [], changes: [{ type: 'key.revoked' as const, namespace, id, at: clock.now() }] }
    const detail = JSON.stringify({ id, kind: key.kind, label: key.label })
    await audit.commit(actor, unit, { action: 'key.revoke', detail })
    await refresh()
  }
}
