// The webhook endpoint: somebody who wants to be told how runs go (contract §2.9, decisions "Webhooks"). Pure data and
// the rules about it; services/webhook/endpoints changes them, domain/run/notices writes the deliveries they get.

import type { DeliveryKind } from './delivery.ts'

/** What endpoints subscribe to: every kind of delivery but the custom sends of workflows. */
export type NoticeKind = Exclude<DeliveryKind, 'custom'>

/** A secret as it is stored: only services/webhook/vault can open it. */
export type SealedSecret = string

/** For so long after a rotation the secret before it still counts (decisions, "Webhooks"). */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** So many old ones count at once: each costs every delivery a signature. */
export const OLD_SECRETS_MAX = 4

/** A key of fewer bytes would be guessed. */
export const SECRET_BYTES_MIN = 16

/** One that was rotated away. */
export interface OldSecret {
  secret: SealedSecret
  /** Until when, exclusive, it counts. */
  until: number
}

/** The secrets of an endpoint or a receiver: the current one, and those before it for a while, the newest first. */
export interface Secrets {
  secret: SealedSecret
  oldSecrets?: readonly OldSecret[]
}

export interface Endpoint extends Secrets {
  namespace: string
  id: string
  name?: string
  /** Only runs of this app; of every app when absent. */
  app?: string
  url: string
  eventKinds: readonly NoticeKind[]
  enabled: boolean
  /** Why the engine itself disabled it. */
  disabledReason?: string
  createdAt: number
  updatedAt: number
  /** Rises with every change: two edits at once cannot swallow each other. */
  version: number
}

export interface NewEndpoint {
  name?: string
  app?: string
  url: string
  eventKinds: readonly NoticeKind[]
  enabled?: boolean
  /** A known secret to adopt; one is generated when absent. */
  secret?: string
}

export interface SecretsEdit {
  rotateSecret?: boolean
  /** The secrets before the current one, or before the one now made, count no more. */
  revokeOldSecrets?: boolean
}

/** What is absent stays; `null` takes an optional field away. */
export interface EndpointEdit extends SecretsEdit {
  name?: string | null
  app?: string | null
  url?: string
  eventKinds?: readonly NoticeKind[]
  enabled?: boolean
}

/** An endpoint, and its secret where one was just made. */
export interface SavedEndpoint {
  endpoint: Endpoint
  secret?: string
}

/** Whether the endpoint is to be told of that kind, from that app. */
export function isSubscribed(endpoint: Endpoint, kind: NoticeKind, app: string): boolean {
  const { enabled, eventKinds, app: only } = endpoint
  return enabled && eventKinds.includes(kind) && (only === undefined || only === app)
}

/** The endpoint after it said that it is gone. Enabling it again takes the reason away. */
export function disabledAsGone(endpoint: Endpoint, now: number): Endpoint {
  const disabledReason = 'the endpoint answered 410 Gone'
  return { ...endpoint, enabled: false, disabledReason, updatedAt: now, version: endpoint.version + 1 }
}
