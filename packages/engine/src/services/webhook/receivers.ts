// Webhook receivers: the URLs whose posts become events (docs/webhooks.md#receive-webhooks). Called by the HTTP routes;
// services/webhook/inbound takes the posts.

import { randomBytes, randomInt } from 'node:crypto'
import type { CreateWebhookReceiver, UpdateWebhookReceiver } from '@perdure/protocol'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import {
  edited,
  type Receiver,
  type ReceiverScheme,
  type SavedReceiver,
  secretFault,
} from '../../domain/model/receiver.ts'
import { newWebhookSecret, VersionedResource, type VersionedResourceDeps } from './versioned-resource.ts'

/** Receivers a namespace may have: all of them are held in memory. */
const RECEIVERS_MAX = 1000

export class Receivers {
  readonly #deps: VersionedResourceDeps
  readonly #resource: VersionedResource<Receiver, UpdateWebhookReceiver>

  constructor(deps: VersionedResourceDeps) {
    this.#deps = deps
    this.#resource = new VersionedResource<Receiver, UpdateWebhookReceiver>(deps, {
      name: 'webhook receiver',
      idPrefix: 'whr',
      countMax: RECEIVERS_MAX,
      guardType: 'receiver',
      list: namespace => this.list(namespace),
      saved: receiver => ({ type: 'receiver.saved', receiver }),
      deleted: (namespace, id) => ({ type: 'receiver.deleted', namespace, id }),
      edited,
      newSecret: ({ scheme }) => newSecret(scheme),
    })
  }

  /** Oldest first. */
  list(namespace: string): Receiver[] {
    return this.#deps.catalog.receivers(namespace)
  }

  /**
   * Answers the secret in clear text: this is the only time it shows. Throws `slug_taken` when a receiver of any
   * namespace has the slug.
   */
  async create(namespace: string, fields: CreateWebhookReceiver): Promise<SavedReceiver> {
    const { slug: chosen, secret: adopted, scheme = 'standard-webhooks', enabled = true, ...about } = fields
    const fault = adopted === undefined ? undefined : secretFault(scheme, adopted)
    if (fault) throw invalid('secret', fault)
    const secret = adopted ?? newSecret(scheme)
    const receiver = await this.#resource.create(namespace, {
      secret,
      build: common => ({ ...common, slug: chosen ?? newSlug(), scheme, ...about, enabled }),
      guards: ({ slug }) => [{ type: 'slug', slug }],
      onStale: () => {
        // A generated slug is generated again.
        if (chosen !== undefined)
          throw new EngineError('slug_taken', `the slug ${chosen} is another receiver's`)
      },
    })
    return { receiver, secret }
  }

  /** Throws `not_found` for an id that the namespace lacks. */
  async update(namespace: string, id: string, edit: UpdateWebhookReceiver): Promise<SavedReceiver> {
    const { saved: receiver, ...made } = await this.#resource.update(namespace, id, edit)
    return { receiver, ...made }
  }

  /** Its slug is free again. Throws `not_found` for an id that the namespace lacks. */
  delete(namespace: string, id: string): Promise<void> {
    return this.#resource.delete(namespace, id)
  }
}

const SLUG_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const SLUG_LENGTH = 16

/** Random, so that nobody can find a receiver by trying slugs. */
function newSlug(): string {
  return Array.from({ length: SLUG_LENGTH }, () => SLUG_ALPHABET[randomInt(SLUG_ALPHABET.length)]).join('')
}

function newSecret(scheme: ReceiverScheme): string {
  return scheme === 'standard-webhooks' ? newWebhookSecret() : randomBytes(32).toString('hex')
}
