// The webhook endpoint: somebody who wants to be told how runs go (contract §2.9, decisions "Webhooks"). Pure data and
// the rules about it; services/endpoints changes them, domain/lifecycle writes the deliveries they get.

import type { DeliveryKind } from './delivery.ts'

/** What endpoints subscribe to: every kind of delivery but the custom sends of workflows. */
export type LifecycleKind = Exclude<DeliveryKind, 'custom'>

/** A secret as it is stored: only services/vault can open it. */
export type SealedSecret = string

/** For so long after a rotation the secret before it still counts (decisions, "Webhooks"). */
export const SECRET_OVERLAP_MS = 24 * 3_600_000

/** The secrets of an endpoint or a receiver: the current one, and after a rotation the one before it for a while. */
export interface Secrets {
  secret: SealedSecret
  previousSecret?: SealedSecret
  /** Until when, exclusive, `previousSecret` counts. */
  previousUntil?: number
}

export interface Endpoint extends Secrets {
  namespace: string
  id: string
  name?: string
  /** Only runs of this app; of every app when absent. */
  app?: string
  url: string
  eventKinds: readonly LifecycleKind[]
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
  eventKinds: readonly LifecycleKind[]
  /** A known secret to adopt; one is generated when absent. */
  secret?: string
}

/** What is absent stays; `null` takes an optional field away. */
export interface EndpointEdit {
  name?: string | null
  app?: string | null
  url?: string
  eventKinds?: readonly LifecycleKind[]
  enabled?: boolean
  rotateSecret?: boolean
}

/** An endpoint, and its secret where one was just made. */
export interface SavedEndpoint {
  endpoint: Endpoint
  secret?: string
}

/** Whether the endpoint is to be told of that kind, from that app. */
export function isSubscribed(endpoint: Endpoint, kind: LifecycleKind, app: string): boolean {
  const { enabled, eventKinds, app: only } = endpoint
  return enabled && eventKinds.includes(kind) && (only === undefined || only === app)
}

/** The sealed secrets that count at `now`, the current one first. */
export function secretsAt({ secret, previousSecret, previousUntil }: Secrets, now: number): SealedSecret[] {
  const overlaps = previousSecret !== undefined && previousUntil !== undefined && now < previousUntil
  return overlaps ? [secret, previousSecret] : [secret]
}

/** The secrets after a rotation to `secret`. */
export function rotated(before: Secrets, secret: SealedSecret, now: number): Secrets {
  return { secret, previousSecret: before.secret, previousUntil: now + SECRET_OVERLAP_MS }
}

/** The endpoint after it said that it is gone. Enabling it again takes the reason away. */
export function disabledAsGone(endpoint: Endpoint, now: number): Endpoint {
  const disabledReason = 'the endpoint answered 410 Gone'
  return { ...endpoint, enabled: false, disabledReason, updatedAt: now, version: endpoint.version + 1 }
}
