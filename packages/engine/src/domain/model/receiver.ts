// The webhook receiver: a URL whose verified posts become events (contract §2.9, §4.6). Pure data and the rules about it;
// services/webhook/receivers keeps them, services/webhook/inbound takes what is posted to them.

import { isMalformedWebhookSecret, WEBHOOK_SECRET_PREFIX, webhookKeyOf } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import { SECRET_BYTES_MIN, type Secrets, type SecretsEdit } from './endpoint.ts'

export const RECEIVER_SCHEMES = ['standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256'] as const
export type ReceiverScheme = (typeof RECEIVER_SCHEMES)[number]

export interface Receiver extends Secrets {
  namespace: string
  id: string
  name?: string
  /** The app its events belong to. */
  app?: string
  /** Unique over all namespaces: it is a routing key. Never changes. */
  slug: string
  eventName: string
  targetApp?: string
  scheme: ReceiverScheme
  enabled: boolean
  createdAt: number
  updatedAt: number
  version: number
}

/** What a create takes. */
export interface NewReceiver {
  name?: string
  app?: string
  /** Drawn when absent. */
  slug?: string
  eventName: string
  targetApp?: string
  scheme?: ReceiverScheme
  enabled?: boolean
  /** One that the provider has made; else one is drawn. */
  secret?: string
}

/** What a change takes: what is absent stays, `null` takes away. */
export interface ReceiverEdit extends SecretsEdit {
  name?: string | null
  app?: string | null
  eventName?: string
  targetApp?: string | null
  enabled?: boolean
}

/** A receiver as it was saved, and the secret in the clear if one was made or brought: the only time it shows. */
export interface SavedReceiver {
  receiver: Receiver
  secret?: string
}

/** What came of a post: an event, none when it was a repeat, or the answer to a handshake, as JSON. */
export type Receipt = { eventId: string } | { deduped: true } | { handshake: JsonText }

/** A secret shorter than this would be guessed. */
const SECRET_CHARACTERS_MIN = 16

/** What is wrong with a secret for the scheme, if anything. */
export function secretFault(scheme: ReceiverScheme, secret: string): string | undefined {
  if (scheme !== 'standard-webhooks')
    return secret.length < SECRET_CHARACTERS_MIN
      ? `must have at least ${SECRET_CHARACTERS_MIN} characters`
      : undefined
  if (!secret.startsWith(WEBHOOK_SECRET_PREFIX) || isMalformedWebhookSecret(secret))
    return `must be ${WEBHOOK_SECRET_PREFIX} and base64 for the scheme ${scheme}`
  return webhookKeyOf(secret).length < SECRET_BYTES_MIN
    ? `must stand for at least ${SECRET_BYTES_MIN} bytes`
    : undefined
}

/** The receiver after the edit, secrets and stamps aside. */
export function edited(before: Receiver, edit: ReceiverEdit): Receiver {
  const { name = before.name, app = before.app, targetApp = before.targetApp } = edit
  const { eventName = before.eventName, enabled = before.enabled } = edit
  const { name: _name, app: _app, targetApp: _targetApp, ...kept } = before
  return {
    ...kept,
    ...(name == null ? {} : { name }),
    ...(app == null ? {} : { app }),
    ...(targetApp == null ? {} : { targetApp }),
    eventName,
    enabled,
  }
}
