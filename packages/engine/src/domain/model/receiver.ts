// The webhook receiver: a URL whose verified POSTs become events (docs/webhooks.md#receive-webhooks). Pure data and its
// rules; services/webhook/receivers edits receivers, services/webhook/inbound takes their POSTs.

import {
  isMalformedWebhookSecret,
  type UpdateWebhookReceiver,
  WEBHOOK_SECRET_PREFIX,
  type WebhookReceiver,
  webhookKeyOf,
} from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import { SECRET_BYTES_MIN, type Versioned } from './endpoint.ts'

export type ReceiverScheme = WebhookReceiver['scheme']

/** The `slug` is part of the public URL: it is unique over all namespaces and never changes. */
export type Receiver = Versioned &
  Omit<WebhookReceiver, 'oldSecretsUntil' | 'lastAcceptedAt' | 'createdAt' | 'updatedAt'>

/** The outcome of a POST: an event, a repeat of an earlier one, or the reply to a handshake, as JSON. */
export type Receipt = { eventId: string } | { deduped: true } | { handshake: JsonText }

/** Minimum length of a secret: a shorter one could be guessed. */
const SECRET_CHARACTERS_MIN = 16

/** Describes the problem with a secret for the scheme; undefined if there is none. */
export function secretFault(scheme: ReceiverScheme, secret: string): string | undefined {
  if (scheme !== 'standard-webhooks')
    return secret.length < SECRET_CHARACTERS_MIN ? `must have at least ${SECRET_CHARACTERS_MIN} characters` : undefined
  if (!secret.startsWith(WEBHOOK_SECRET_PREFIX) || isMalformedWebhookSecret(secret))
    return `must be ${WEBHOOK_SECRET_PREFIX} and base64 for the scheme ${scheme}`
  return webhookKeyOf(secret).length < SECRET_BYTES_MIN
    ? `must decode to at least ${SECRET_BYTES_MIN} bytes`
    : undefined
}

/** Headers that contain credentials, of the provider or of this engine. */
const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|signature/

/** Describes the problem with the names of headers to keep; undefined if there is none. */
export function keepHeadersFault(names: readonly string[]): string | undefined {
  const secret = names.find(name => SECRET_HEADERS.test(name.toLowerCase()))
  return secret === undefined ? undefined : `must not name ${secret}: it contains a credential or a signature`
}

/** The names in lower case, each once; absent if there are none. */
export function keptHeaders(names: readonly string[] | null | undefined): string[] | undefined {
  const kept = [...new Set((names ?? []).map(name => name.toLowerCase()))]
  return kept.length === 0 ? undefined : kept
}

/** The receiver after the edit, except secrets, version and times. `null` removes a field, absent fields stay. */
export function edited(before: Receiver, edit: UpdateWebhookReceiver): Receiver {
  const { name = before.name, app = before.app, targetApp = before.targetApp } = edit
  const { eventName = before.eventName, enabled = before.enabled } = edit
  const optional = { name: name ?? undefined, app: app ?? undefined, targetApp: targetApp ?? undefined }
  const keepHeaders = edit.keepHeaders === undefined ? before.keepHeaders : keptHeaders(edit.keepHeaders)
  return { ...before, ...optional, eventName, keepHeaders, enabled }
}
