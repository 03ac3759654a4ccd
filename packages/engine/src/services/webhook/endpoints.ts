// Webhook endpoints: who is told how runs go (contract §4.6). Each change is guarded by the endpoint's version; the
// catalog, from which deliveries are decided, takes it over after the commit.

import { randomBytes } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '@perdure/protocol'
import type { Change, Guard } from '../../domain/model/change.ts'
import type { Endpoint, EndpointEdit, NewEndpoint, SavedEndpoint } from '../../domain/model/endpoint.ts'
import { EngineError, invalid, invariant } from '../../domain/model/errors.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import { broughtSecretFault, editedSecrets } from '../../domain/webhook/secrets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { Vault } from './vault.ts'

/** Endpoints a namespace may have: each is looked at on every end of a run. */
export const ENDPOINTS_MAX = 1000

export interface EndpointsDeps {
  store: Store
  catalog: Catalog
  vault: Vault
  clock: Clock
  ids: IdSource
}

export class Endpoints {
  readonly #deps: EndpointsDeps

  constructor(deps: EndpointsDeps) {
    this.#deps = deps
  }

  /** Oldest first. */
  list(namespace: string): Endpoint[] {
    return this.#deps.catalog.view(namespace).endpoints()
  }

  async create(namespace: string, { secret: adopted, ...fields }: NewEndpoint): Promise<SavedEndpoint> {
    const { clock, ids, vault } = this.#deps
    const fault = adopted === undefined ? undefined : broughtSecretFault(adopted)
    if (fault) throw invalid('secret', fault)
    if (this.list(namespace).length >= ENDPOINTS_MAX)
      throw new EngineError('conflict', `a namespace has ${ENDPOINTS_MAX} webhook endpoints at most`)
    const now = clock.now()
    const secret = adopted ?? newSecret()
    const endpoint: Endpoint = {
      namespace,
      id: ids.next('whe', now),
      ...fields,
      eventKinds: [...new Set(fields.eventKinds)],
      enabled: fields.enabled ?? true,
      secret: vault.seal(secret),
      createdAt: now,
      updatedAt: now,
      version: 1,
    }
    await this.#commit([], [{ type: 'endpoint.saved', endpoint }])
    return { endpoint, secret }
  }

  /** Throws `not_found` for an id that the namespace does not have. */
  async update(namespace: string, id: string, edit: EndpointEdit): Promise<SavedEndpoint> {
    const { store, clock, vault } = this.#deps
    const { rotateSecret, revokeOldSecrets = false } = edit
    const secret = rotateSecret ? newSecret() : undefined
    const made = secret === undefined ? undefined : vault.seal(secret)
    const saved = await decideAndCommit<Endpoint>({
      store,
      decide: () => {
        const before = this.#find(namespace, id)
        const now = clock.now()
        const secrets = editedSecrets(before, { made, revokeOldSecrets, now })
        return { ...edited(before, edit), ...secrets, updatedAt: now, version: before.version + 1 }
      },
      unit: endpoint => ({
        guards: [{ type: 'endpoint', id, version: endpoint.version - 1 }],
        changes: [{ type: 'endpoint.saved', endpoint }],
      }),
      commit: unit => this.#commit(unit.guards, unit.changes),
      onStale: () => this.#refresh(),
    })
    invariant(saved, 'an edit always decides')
    return secret === undefined ? { endpoint: saved } : { endpoint: saved, secret }
  }

  /** Its deliveries stay in the log; those not sent yet are skipped. Throws `not_found`. */
  async delete(namespace: string, id: string): Promise<void> {
    this.#find(namespace, id)
    await this.#commit([], [{ type: 'endpoint.deleted', namespace, id }])
  }

  #find(namespace: string, id: string): Endpoint {
    const endpoint = this.#deps.catalog.view(namespace).endpoint(id)
    if (!endpoint) throw new EngineError('not_found', 'no such webhook endpoint')
    return endpoint
  }

  async #commit(guards: Guard[], changes: Change[]): Promise<void> {
    await this.#deps.store.commit({ guards, changes })
    this.#deps.catalog.apply(changes)
  }

  /** Somebody changed it in between: the winner's version is in the store, and soon in the catalog. */
  async #refresh(): Promise<boolean> {
    const { store, catalog } = this.#deps
    catalog.replaceEndpoints((await store.catalog()).endpoints)
    return true
  }
}

function edited(before: Endpoint, edit: EndpointEdit): Endpoint {
  const { name = before.name, app = before.app, url = before.url, enabled = before.enabled } = edit
  const { name: _name, app: _app, disabledReason, ...kept } = before
  return {
    ...kept,
    ...(name === undefined || name === null ? {} : { name }),
    ...(app === undefined || app === null ? {} : { app }),
    url,
    eventKinds: edit.eventKinds === undefined ? before.eventKinds : [...new Set(edit.eventKinds)],
    enabled,
    ...(enabled || disabledReason === undefined ? {} : { disabledReason }),
  }
}

/** Decisions, "Webhooks": `whsec_` and base64 of 32 bytes. */
function newSecret(): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(32).toString('base64')
}
