// The webhook endpoint: a subscriber to run notices (docs/webhooks.md#what-endpoints-receive). Pure data; services/webhook/
// endpoints edits endpoints, domain/run/notices writes their deliveries.

import type { WebhookEndpoint } from '@perdure/protocol'
import type { DeliveryKind } from './delivery.ts'

/** The kinds that endpoints subscribe to. */
export type NoticeKind = Exclude<DeliveryKind, 'custom' | 'test'>

/** A secret as it is stored. Only services/webhook/vault can decrypt it. */
export type SealedSecret = string

/** How long a replaced secret still counts after a rotation (docs/webhooks.md#secrets). */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** Maximum old secrets that count at once: each adds a signature to every delivery. */
export const OLD_SECRETS_MAX = 4

/** Minimum length of a key: fewer bytes could be guessed. */
export const SECRET_BYTES_MIN = 16

/** A secret that a rotation replaced. */
export interface OldSecret {
  secret: SealedSecret
  /** The secret counts until this time, exclusive. */
  until: number
}

/** The secrets of an endpoint or a receiver: the current one, and replaced ones that may still count, newest first. */
export interface Secrets {
  secret: SealedSecret
  oldSecrets?: readonly OldSecret[]
}

/** The fields that endpoints and receivers have in common. */
export interface Versioned extends Secrets {
  namespace: string
  id: string
  createdAt: number
  updatedAt: number
  /** 1 at first. Rises with every change, so that concurrent edits cannot overwrite each other. */
  version: number
}

/** An endpoint with an `app` accepts notices of that app only. */
export type Endpoint = Versioned & Omit<WebhookEndpoint, 'scheme' | 'oldSecretsUntil' | 'createdAt' | 'updatedAt'>

/** Whether the endpoint accepts notices of that kind from that app. */
export function isSubscribed(endpoint: Endpoint, kind: NoticeKind, app: string): boolean {
  const { enabled, eventKinds, app: only } = endpoint
  return enabled && eventKinds.includes(kind) && (only === undefined || only === app)
}

/** The endpoint, disabled after it answered 410. Enabling it again removes the reason. */
export function disabledAsGone(endpoint: Endpoint, now: number): Endpoint {
  const disabledReason = 'the endpoint answered 410 Gone'
  return { ...endpoint, enabled: false, disabledReason, updatedAt: now, version: endpoint.version + 1 }
}
