// Webhook receivers: the URLs whose posts become events (docs/webhooks.md#receive-webhooks). Called by the HTTP routes;
// services/webhook/inbound takes the posts.

import { randomBytes, randomInt } from 'node:crypto'
import type { CreateWebhookReceiver, UpdateWebhookReceiver } from '@perdure/protocol'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { edited, keptHeaders, type Receiver, type ReceiverScheme, secretFault } from '../../domain/model/receiver.ts'
import type { Actor } from '../commit/audit.ts'
import { newWebhookSecret, type Saved, VersionedResource, type VersionedResourceDeps } from './versioned-resource.ts'

/** Maximum receivers of a namespace: all of them are kept in memory. */
const RECEIVERS_MAX = 1000

export class Receivers extends VersionedResource<Receiver, UpdateWebhookReceiver> {
  constructor(deps: VersionedResourceDeps) {
    super(deps, {
      name: 'webhook receiver',
      idPrefix: 'whr',
      countMax: RECEIVERS_MAX,
      guardType: 'receiver',
      list: namespace => deps.catalog.receivers(namespace),
      saved: receiver => ({ type: 'receiver.saved', receiver }),
      // The slug is free again.
      deleted: (namespace, id) => ({ type: 'receiver.deleted', namespace, id }),
      edited,
      newSecret: ({ scheme }) => newSecret(scheme),
    })
  }

  /** Throws `slug_taken` when a receiver of any namespace has the slug. */
  async create(actor: Actor, fields: CreateWebhookReceiver): Promise<Saved<Receiver>> {
    const {
      slug: chosen,
      secret: adopted,
      scheme = 'standard-webhooks',
      enabled = true,
      keepHeaders,
      ...about
    } = fields
    const kept = keptHeaders(keepHeaders)
    const fault = adopted === undefined ? undefined : secretFault(scheme, adopted)
    if (fault) throw invalid('secret', fault)
    return this.build(actor, {
      secret: adopted ?? newSecret(scheme),
      complete: common => ({ ...common, slug: chosen ?? newSlug(), scheme, ...about, keepHeaders: kept, enabled }),
      guards: ({ slug }) => [{ type: 'slug', slug }],
      onStale: () => {
        // If a generated slug is taken, another one is generated.
        if (chosen !== undefined) throw new EngineError('slug_taken', `the slug ${chosen} is used by another receiver`)
      },
    })
  }
}

const SLUG_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** 129 bits. */
const SLUG_LENGTH = 25

/** Makes a random slug, so that nobody can find a receiver by trying slugs. */
function newSlug(): string {
  return Array.from({ length: SLUG_LENGTH }, () => SLUG_ALPHABET[randomInt(SLUG_ALPHABET.length)]).join('')
}

function newSecret(scheme: ReceiverScheme): string {
  return scheme === 'standard-webhooks' ? newWebhookSecret() : randomBytes(32).toString('hex')
}
