// The operations that webhook endpoints and receivers share: create, edit with rotation of secrets, and delete, each guarded
// by the version it was decided on. Called by services/webhook/endpoints and receivers.

import { randomBytes } from 'node:crypto'
import { type UpdateWebhookEndpoint, WEBHOOK_SECRET_PREFIX } from '@perdure/protocol'
import type { Change, Guard } from '../../domain/model/change.ts'
import type { Versioned } from '../../domain/model/endpoint.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import { editedSecrets } from '../../domain/webhook/secrets.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { Vault } from './vault.ts'

export interface VersionedResourceDeps extends Pick<Core, 'store' | 'catalog' | 'clock' | 'ids' | 'audit'> {
  vault: Vault
}

type SecretsEdit = Pick<UpdateWebhookEndpoint, 'rotateSecret' | 'revokeOldSecrets'>

/** How one kind of resource is named, stored and edited. */
interface ResourceKind<T extends Versioned, Edit extends SecretsEdit> {
  /** The kind's name in messages. */
  name: string
  idPrefix: 'whe' | 'whr'
  /** Maximum resources of the kind in one namespace. */
  countMax: number
  guardType: 'endpoint' | 'receiver'
  /** The resources of the namespace in the catalog, oldest first. */
  list(namespace: string): T[]
  saved(resource: T): Change
  deleted(namespace: string, id: string): Change
  /** The resource after the edit, except secrets, times and version. */
  edited(before: T, edit: Edit): T
  newSecret(resource: T): string
}

/** A saved resource, with its secret in clear text if the call made one: no later call shows it. */
export interface Saved<T> {
  saved: T
  secret?: string
}

interface CreateOptions<T extends Versioned> {
  /** The secret in clear text. */
  secret: string
  /** Completes the resource. Called again after each lost race. */
  complete(common: Versioned): T
  guards?(resource: T): Guard[]
  /** Called when a guard failed; throws when another try cannot help. */
  onStale?(): void
}

export abstract class VersionedResource<T extends Versioned, Edit extends SecretsEdit> {
  readonly #deps: VersionedResourceDeps
  readonly #kind: ResourceKind<T, Edit>

  constructor(deps: VersionedResourceDeps, kind: ResourceKind<T, Edit>) {
    this.#deps = deps
    this.#kind = kind
  }

  /** The resources of the namespace, oldest first. */
  list(namespace: string): T[] {
    return this.#kind.list(namespace)
  }

  /** Throws `conflict` when the namespace has the maximum number. */
  protected async build(actor: Actor, options: CreateOptions<T>): Promise<Saved<T>> {
    const { vault, clock, ids } = this.#deps
    const { countMax, idPrefix, guardType } = this.#kind
    const { secret, complete, guards, onStale } = options
    const { namespace } = actor
    if (this.list(namespace).length >= countMax) throw this.#full()
    const room: Guard = { type: `${guardType}s`, namespace, most: countMax - 1 }
    const saved = await this.#save(actor, 'create', {
      decide: () => {
        const now = clock.now()
        const id = ids.next(idPrefix, now)
        const sealed = vault.seal(secret, { kind: guardType, namespace, id })
        return complete({ namespace, id, secret: sealed, createdAt: now, updatedAt: now, version: 1 })
      },
      guards: resource => [room, ...(guards?.(resource) ?? [])],
      onStale: async guard => {
        // Others were created in between.
        if (guard.type === room.type) throw this.#full()
        onStale?.()
      },
    })
    return { saved, secret }
  }

  #full(): EngineError {
    const { name, countMax } = this.#kind
    return new EngineError('conflict', `a namespace may have at most ${countMax} ${name}s`)
  }

  /** Also returns the new secret when the edit rotates it. Throws `not_found` for an id that the namespace lacks. */
  async update(actor: Actor, id: string, edit: Edit): Promise<Saved<T>> {
    const { vault, clock } = this.#deps
    const { guardType: type, edited, newSecret } = this.#kind
    const { namespace } = actor
    const { rotateSecret, revokeOldSecrets = false } = edit
    const secret = rotateSecret ? newSecret(this.#find(namespace, id)) : undefined
    const made = secret === undefined ? undefined : vault.seal(secret, { kind: type, namespace, id })
    const shown = {
      ...(secret === undefined ? {} : { rotatedSecret: true }),
      ...(revokeOldSecrets ? { revokedOldSecrets: true } : {}),
    }
    const saved = await this.#save(actor, 'update', {
      shown: (before, after) => ({ ...changedOf(before, after), ...shown }),
      decide: () => {
        const before = this.#find(namespace, id)
        const now = clock.now()
        const secrets = editedSecrets(before, { made, revokeOldSecrets, now })
        return { ...edited(before, edit), ...secrets, updatedAt: now, version: before.version + 1 }
      },
      guards: ({ version }) => [{ type, id, version: version - 1 }],
      onStale: () => this.#reload(),
    })
    return secret === undefined ? { saved } : { saved, secret }
  }

  /** Throws `not_found` for an id that the namespace lacks. */
  async delete(actor: Actor, id: string): Promise<void> {
    const { store, catalog, audit } = this.#deps
    const { namespace } = actor
    const { guardType: type, deleted } = this.#kind
    const changes = [deleted(namespace, id)]
    await decideAndCommit<T>({
      store,
      decide: () => this.#find(namespace, id),
      unit: ({ version }) => ({ guards: [{ type, id, version }], changes }),
      commit: unit => audit.commit(actor, unit, { action: `${type}.delete`, detail: JSON.stringify({ id }) }),
      onStale: () => this.#reload().then(() => true),
    })
    catalog.apply(changes)
  }

  #find(namespace: string, id: string): T {
    const found = this.list(namespace).find(resource => resource.id === id)
    if (!found) throw new EngineError('not_found', `no such ${this.#kind.name}`)
    return found
  }

  async #save(
    actor: Actor,
    verb: 'create' | 'update',
    options: {
      /** Returns further members of the audit entry's detail. Absent: the entry has only the id. */
      shown?(before: T, after: T): object
      decide(): T
      guards(resource: T): Guard[]
      onStale(guard: Guard): Promise<void>
    },
  ): Promise<T> {
    const { store, catalog, audit } = this.#deps
    const { decide, guards, onStale, shown } = options
    const { saved, guardType } = this.#kind
    let detail = ''
    const resource = await decideAndCommit<T>({
      store,
      decide: () => {
        const decided = decide()
        const { id, namespace } = decided
        detail = JSON.stringify({ id, ...shown?.(this.#find(namespace, id), decided) })
        return decided
      },
      commit: unit => audit.commit(actor, unit, { action: `${guardType}.${verb}`, detail }),
      unit: resource => ({ guards: guards(resource), changes: [saved(resource)] }),
      onStale: guard => onStale(guard).then(() => true),
    })
    invariant(resource, 'a save always decides')
    catalog.apply([saved(resource)])
    return resource
  }

  #reload(): Promise<void> {
    return reloadWebhooks(this.#deps.store, this.#deps.catalog)
  }
}

/** Maximum reads of the store in a reload, which gives up because a change of this engine made each one obsolete. */
const RELOAD_READS_MAX = 5

/**
 * Reads endpoints and receivers of every namespace again, after a decision on one of them lost a race. If this engine changed
 * something during a read, the read is repeated, since it may lack that change.
 */
export async function reloadWebhooks(store: Pick<Store, 'catalog'>, catalog: Catalog): Promise<void> {
  for (let reads = 0; reads < RELOAD_READS_MAX; reads++) {
    const { applied } = catalog
    const configured = await store.catalog()
    if (catalog.applied === applied) return catalog.replaceWebhooks(configured)
  }
}

/** A generated secret: the prefix and the base64 of 32 random bytes (docs/webhooks.md#verify-a-signature). */
export function newWebhookSecret(): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(32).toString('base64')
}

/** Members that every change sets, or that are secret. */
const UNTOLD: readonly string[] = ['secret', 'oldSecrets', 'oldSecretsUntil', 'updatedAt', 'version']

/** The names of the settings that differ. Their values are not logged: an address may contain a secret. */
function changedOf(before: object, after: object): { changed?: string[] } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(name => !UNTOLD.includes(name))
  const of = (resource: object, name: string) => JSON.stringify((resource as Record<string, unknown>)[name])
  const changed = names.filter(name => of(before, name) !== of(after, name)).sort()
  return changed.length === 0 ? {} : { changed }
}
