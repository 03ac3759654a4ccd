// The signature schemes of providers (docs/webhooks.md#schemes): which part of a post is signed, where the signatures are, and
// what the message id is. Used by signature-verification.ts.

import { RECEIVER_SCHEMES, webhookKeyOf } from '@perdure/protocol'
import type { ReceiverScheme } from '../model/receiver.ts'

/** Headers by lower-case name, as node has them. */
export type WebhookHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface WebhookPost {
  headers: WebhookHeaders
  /** The body, byte for byte. */
  rawBody: Buffer
}

/** The claims of a post about itself. None may be trusted before the signature is verified. */
export interface Claim {
  /** The signed parts, in order. */
  signed: readonly (string | Buffer)[]
  /** In seconds; absent if the scheme has no timestamp. */
  timestamp?: string
  /** HMAC-SHA256 signatures. One valid one is enough. */
  signatures: readonly string[]
  encoding: 'hex' | 'base64'
  messageId(): string | undefined
}

interface Scheme {
  /** Undefined when the post lacks a part that the scheme needs. */
  claimOf(post: WebhookPost): Claim | undefined
  /** The HMAC key of a secret. */
  keyOf(secret: string): Buffer
  /** Whether the signature covers the message id. If not, a recorded post can be sent again under another id. */
  isIdSigned: boolean
}

const textKey = (secret: string): Buffer => Buffer.from(secret, 'utf8')

export const SCHEMES: Record<ReceiverScheme, Scheme> = {
  'standard-webhooks': { claimOf: standardWebhooks, keyOf: webhookKeyOf, isIdSigned: true },
  github: { claimOf: github, keyOf: textKey, isIdSigned: false },
  stripe: { claimOf: stripe, keyOf: textKey, isIdSigned: true },
  slack: { claimOf: slack, keyOf: textKey, isIdSigned: true },
  'hmac-sha256': { claimOf: hmacSha256, keyOf: textKey, isIdSigned: false },
}

/** The scheme to which the headers of the post belong, if there is one. */
export function schemeOf(post: WebhookPost): ReceiverScheme | undefined {
  return RECEIVER_SCHEMES.find(scheme => SCHEMES[scheme].claimOf(post))
}

/** `webhook-signature: v1,<base64> v1,<base64>` over `id.timestamp.body`. Svix sends the same as `svix-*`. */
function standardWebhooks({ headers, rawBody }: WebhookPost): Claim | undefined {
  const family = headers['webhook-id'] === undefined ? 'svix' : 'webhook'
  const id = headerOf(headers, `${family}-id`)
  const timestamp = headerOf(headers, `${family}-timestamp`)
  const signatures = headerOf(headers, `${family}-signature`)
  if (!id || !timestamp || !signatures) return undefined
  return {
    signed: [`${id}.${timestamp}.`, rawBody],
    timestamp,
    signatures: valuesAfter('v1,', signatures.split(' ')),
    encoding: 'base64',
    messageId: () => id,
  }
}

/** `X-Hub-Signature-256: sha256=<hex>` over the body. */
function github({ headers, rawBody }: WebhookPost): Claim | undefined {
  const signature = headerOf(headers, 'x-hub-signature-256')
  return signature ? signedBody(rawBody, signature, headerOf(headers, 'x-github-delivery')) : undefined
}

/** `Stripe-Signature: t=<seconds>,v1=<hex>,v1=<hex>` over `timestamp.body`. */
function stripe({ headers, rawBody }: WebhookPost): Claim | undefined {
  const parts = headerOf(headers, 'stripe-signature')?.split(',') ?? []
  const [timestamp] = valuesAfter('t=', parts)
  if (!timestamp) return undefined
  return {
    signed: [`${timestamp}.`, rawBody],
    timestamp,
    signatures: valuesAfter('v1=', parts),
    encoding: 'hex',
    messageId: () => memberOf(rawBody, 'id'),
  }
}

/** `X-Slack-Signature: v0=<hex>` over `v0:timestamp:body`. */
function slack({ headers, rawBody }: WebhookPost): Claim | undefined {
  const timestamp = headerOf(headers, 'x-slack-request-timestamp')
  const signature = headerOf(headers, 'x-slack-signature')
  if (!timestamp || !signature) return undefined
  return {
    signed: [`v0:${timestamp}:`, rawBody],
    timestamp,
    signatures: valuesAfter('v0=', [signature]),
    encoding: 'hex',
    messageId: () => memberOf(rawBody, 'event_id'),
  }
}

/** `X-Signature-256: sha256=<hex>` over the body, in upper or lower case: the generic scheme. */
function hmacSha256({ headers, rawBody }: WebhookPost): Claim | undefined {
  const signature = headerOf(headers, 'x-signature-256')?.toLowerCase()
  const messageId = headerOf(headers, 'x-webhook-id') ?? headerOf(headers, 'idempotency-key')
  return signature ? signedBody(rawBody, signature, messageId) : undefined
}

function signedBody(rawBody: Buffer, signature: string, messageId: string | undefined): Claim {
  const signatures = valuesAfter('sha256=', [signature])
  return { signed: [rawBody], signatures, encoding: 'hex', messageId: () => messageId }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** The rest of each text that starts with the prefix. */
function valuesAfter(prefix: string, texts: readonly string[]): string[] {
  const trimmed = texts.map(text => text.trim())
  return trimmed.filter(text => text.startsWith(prefix)).map(text => text.slice(prefix.length))
}

/** The member of a JSON body, if it is a string. */
function memberOf(body: Buffer, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))?.[name]
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
