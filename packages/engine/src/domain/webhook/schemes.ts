// How each provider signs a webhook: what of the post is signed, where the signatures stand, and which id tells a
// message from the next (decisions, "Webhooks"). Only domain/webhook/signature-verification reads this.

import { webhookKeyOf } from '@perdure/protocol'
import type { ReceiverScheme } from '../model/receiver.ts'

/** By lower-case name, as node gives them. */
export type WebhookHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface WebhookPost {
  headers: WebhookHeaders
  /** The body to the byte. */
  rawBody: Buffer
}

/** What a post says of itself; nothing of it is to be believed before it is verified. */
export interface Claim {
  /** What is signed, one after the other. */
  signed: readonly (string | Buffer)[]
  /** In seconds; absent where the scheme has none. */
  timestamp?: string
  /** HMAC-SHA256, any one of which suffices. */
  signatures: readonly string[]
  encoding: 'hex' | 'base64'
  messageId(): string | undefined
}

interface Scheme {
  /** Undefined when the post lacks what the scheme needs. */
  claimOf(post: WebhookPost): Claim | undefined
  /** The key that a secret stands for. */
  keyOf(secret: string): Buffer
}

const textKey = (secret: string): Buffer => Buffer.from(secret, 'utf8')

export const SCHEMES: Record<ReceiverScheme, Scheme> = {
  'standard-webhooks': { claimOf: standardWebhooks, keyOf: webhookKeyOf },
  github: { claimOf: github, keyOf: textKey },
  stripe: { claimOf: stripe, keyOf: textKey },
  slack: { claimOf: slack, keyOf: textKey },
  'hmac-sha256': { claimOf: hmacSha256, keyOf: textKey },
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
  if (!signature) return undefined
  return {
    signed: [rawBody],
    signatures: valuesAfter('sha256=', [signature]),
    encoding: 'hex',
    messageId: () => headerOf(headers, 'x-github-delivery'),
  }
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

/** `X-Signature-256: sha256=<hex>` over the body, in either case: it is for whatever can make an HMAC. */
function hmacSha256({ headers, rawBody }: WebhookPost): Claim | undefined {
  const signature = headerOf(headers, 'x-signature-256')?.toLowerCase()
  if (!signature) return undefined
  return {
    signed: [rawBody],
    signatures: valuesAfter('sha256=', [signature]),
    encoding: 'hex',
    messageId: () => headerOf(headers, 'x-webhook-id') ?? headerOf(headers, 'idempotency-key'),
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** What follows the prefix, of the texts that have it. */
function valuesAfter(prefix: string, texts: readonly string[]): string[] {
  const trimmed = texts.map(text => text.trim())
  return trimmed.filter(text => text.startsWith(prefix)).map(text => text.slice(prefix.length))
}

/** That member of a JSON body, if it is text. */
function memberOf(body: Buffer, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))?.[name]
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
