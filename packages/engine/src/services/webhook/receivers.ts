// Webhook receivers: the URLs whose posts become events (contract §4.6; services/webhook/inbound takes the posts). Each change
// is guarded by the receiver's version, a new one by that nobody has its slug.

import { randomBytes, randomInt } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '@perdure/protocol'
import type { Unit } from '../../domain/model/change.ts'
import { EngineError, invalid, invariant } from '../../domain/model/errors.ts'
import {
  edited,
  type NewReceiver,
  type Receiver,
  type ReceiverEdit,
  type ReceiverScheme,
  type SavedReceiver,
  secretFault,
} from '../../domain/model/receiver.ts'
import type { IdSource } from '../../domain/text/ids.ts'
import { editedSecrets } from '../../domain/webhook/secrets.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { Vault } from './vault.ts'

/** Receivers a namespace may have: all of them are held in memory. */
export const RECEIVERS_MAX = 1000

export interface ReceiversDeps {
  store: Store
  catalog: Catalog
  vault: Vault
  clock: Clock
  ids: IdSource
}

export class Receivers {
  readonly #deps: ReceiversDeps

  constructor(deps: ReceiversDeps) {
    this.#deps = deps
  }

  /** Oldest first. */
  list(namespace: string): Receiver[] {
    return this.#deps.catalog.receivers(namespace)
  }

  /** Throws `slug_taken` when a receiver of whatever namespace has the slug. */
  async create(namespace: string, fields: NewReceiver): Promise<SavedReceiver> {
    const { clock, ids, vault } = this.#deps
    const { slug: chosen, secret: adopted, scheme = 'standard-webhooks', enabled = true, ...about } = fields
    const fault = adopted === undefined ? undefined : secretFault(scheme, adopted)
    if (fault) throw invalid('secret', fault)
    if (this.list(namespace).length >= RECEIVERS_MAX)
      throw new EngineError('conflict', `a namespace has ${RECEIVERS_MAX} webhook receivers at most`)
    const secret = adopted ?? newSecret(scheme)
    const sealed = vault.seal(secret)
    const receiver = await this.#save({
      decide: () => {
        const now = clock.now()
        const [id, slug] = [ids.next('whr', now), chosen ?? newSlug()]
        const stamps = { createdAt: now, updatedAt: now, version: 1 }
        return { namespace, id, slug, scheme, ...about, enabled, secret: sealed, ...stamps }
      },
      guardOf: ({ slug }) => ({ type: 'slug', slug }),
      onStale: () => {
        // One that was drawn is drawn again.
        if (chosen === undefined) return true
        throw new EngineError('slug_taken', `the slug ${chosen} is another receiver's`)
      },
    })
    return { receiver, secret }
  }

  /** Throws `not_found` for an id that the namespace does not have. */
  async update(namespace: string, id: string, edit: ReceiverEdit): Promise<SavedReceiver> {
    const { clock, vault } = this.#deps
    const { rotateSecret, revokeOldSecrets = false } = edit
    const secret = rotateSecret ? newSecret(this.#find(namespace, id).scheme) : undefined
    const made = secret === undefined ? undefined : vault.seal(secret)
    const receiver = await this.#save({
      decide: () => {
        const before = this.#find(namespace, id)
        const now = clock.now()
        const secrets = editedSecrets(before, { made, revokeOldSecrets, now })
        return { ...edited(before, edit), ...secrets, updatedAt: now, version: before.version + 1 }
      },
      guardOf: ({ version }) => ({ type: 'receiver', id, version: version - 1 }),
      onStale: () => true,
    })
    return secret === undefined ? { receiver } : { receiver, secret }
  }

  /** Its slug is free again. Throws `not_found` for an id that the namespace does not have. */
  async delete(namespace: string, id: string): Promise<void> {
    const { store, catalog } = this.#deps
    const deleted = { type: 'receiver.deleted', namespace, id } as const
    await decideAndCommit<Receiver>({
      store,
      decide: () => this.#find(namespace, id),
      unit: ({ version }) => ({ guards: [{ type: 'receiver', id, version }], changes: [deleted] }),
      onStale: () => true,
    })
    catalog.apply([deleted])
  }

  /**
   * Saves what `decide` says, and decides again when somebody else was faster, for as long as `onStale` wants it: the
   * winner's version is in the catalog once its own call goes on.
   */
  async #save(options: {
    decide(): Receiver
    guardOf(receiver: Receiver): Unit['guards'][number]
    onStale(): boolean
  }): Promise<Receiver> {
    const { store, catalog } = this.#deps
    const { decide, guardOf, onStale } = options
    const receiver = await decideAndCommit<Receiver>({
      store,
      decide,
      unit: receiver => ({ guards: [guardOf(receiver)], changes: [{ type: 'receiver.saved', receiver }] }),
      onStale,
    })
    invariant(receiver, 'a save always decides')
    catalog.apply([{ type: 'receiver.saved', receiver }])
    return receiver
  }

  #find(namespace: string, id: string): Receiver {
    const receiver = this.list(namespace).find(receiver => receiver.id === id)
    if (!receiver) throw new EngineError('not_found', 'no such webhook receiver')
    return receiver
  }
}

const SLUG_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const SLUG_LENGTH = 16

/** Cannot be guessed, so that nobody finds a receiver by trying. */
function newSlug(): string {
  return Array.from({ length: SLUG_LENGTH }, () => SLUG_ALPHABET[randomInt(SLUG_ALPHABET.length)]).join('')
}

function newSecret(scheme: ReceiverScheme): string {
  const bytes = randomBytes(32)
  return scheme === 'standard-webhooks'
    ? WEBHOOK_SECRET_PREFIX + bytes.toString('base64')
    : bytes.toString('hex')
}
