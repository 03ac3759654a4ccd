// Checks the signature of a post to a receiver in this tab (docs/webhooks.md#schemes): the secret does not leave it.

import type { Calls } from '@perdure/client'

export type Scheme = Calls['listWebhookReceivers']['reply'][number]['scheme']

export interface PostToVerify {
  scheme: Scheme
  secret: string
  /** Lines of `name: value`. */
  headers: string
  body: string
  nowMs: number
}

export interface Verdict {
  isRight: boolean
  text: string
}

const STALE_SECONDS_MAX = 300

/** The signed text before the body, the signatures of the post, and their encoding. */
interface Claim {
  prefix: string
  seconds?: string
  signatures: readonly string[]
  encoding: 'hex' | 'base64'
}

type Get = (name: string) => string | undefined

const CLAIMS: Readonly<Record<Scheme, (get: Get) => Claim | string>> = {
  'standard-webhooks': get => {
    const family = get('webhook-id') === undefined ? 'svix' : 'webhook'
    const [id, seconds, given] = ['id', 'timestamp', 'signature'].map(name => get(`${family}-${name}`))
    if (!id || !seconds || !given) return 'webhook-id, webhook-timestamp and webhook-signature'
    return { prefix: `${id}.${seconds}.`, seconds, signatures: after('v1,', given.split(' ')), encoding: 'base64' }
  },
  github: get => ofBody(get('x-hub-signature-256')) ?? 'X-Hub-Signature-256',
  stripe: get => {
    const parts = (get('stripe-signature') ?? '').split(',')
    const [seconds] = after('t=', parts)
    if (!seconds) return 'Stripe-Signature'
    return { prefix: `${seconds}.`, seconds, signatures: after('v1=', parts), encoding: 'hex' }
  },
  slack: get => {
    const [seconds, given] = [get('x-slack-request-timestamp'), get('x-slack-signature')]
    if (!seconds || !given) return 'X-Slack-Request-Timestamp and X-Slack-Signature'
    return { prefix: `v0:${seconds}:`, seconds, signatures: after('v0=', [given]), encoding: 'hex' }
  },
  'hmac-sha256': get => ofBody(get('x-signature-256')?.toLowerCase()) ?? 'X-Signature-256',
}

function ofBody(given: string | undefined): Claim | undefined {
  return given ? { prefix: '', signatures: after('sha256=', [given]), encoding: 'hex' } : undefined
}

function after(prefix: string, texts: readonly string[]): string[] {
  return texts.map(text => text.trim()).flatMap(text => (text.startsWith(prefix) ? [text.slice(prefix.length)] : []))
}

export async function verifyPost({ scheme, secret, headers, body, nowMs }: PostToVerify): Promise<Verdict> {
  const claim = CLAIMS[scheme](headersOf(headers))
  if (typeof claim === 'string') return { isRight: false, text: `A header is missing: ${scheme} needs ${claim}.` }
  const key = keyOf(scheme, secret)
  if (!key) return { isRight: false, text: 'The secret must be whsec_ and base64.' }
  const expected = await sign(key, claim.prefix + body, claim.encoding)
  if (!claim.signatures.includes(expected)) {
    return { isRight: false, text: 'The signature is wrong: this secret did not sign exactly this body.' }
  }
  const offSeconds = claim.seconds === undefined ? 0 : Math.round(nowMs / 1000) - Number(claim.seconds)
  if (Math.abs(offSeconds) <= STALE_SECONDS_MAX) return { isRight: true, text: 'The signature is right.' }
  const off = `${Math.abs(offSeconds)} s ${offSeconds < 0 ? 'ahead' : 'ago'}`
  return { isRight: false, text: `The signature is right, but was made ${off}; the limit is 300 s.` }
}

function headersOf(lines: string): Get {
  const headers = new Map<string, string>()
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  return name => headers.get(name)
}

function keyOf(scheme: Scheme, secret: string): Uint8Array<ArrayBuffer> | undefined {
  if (scheme !== 'standard-webhooks') return new TextEncoder().encode(secret)
  try {
    return Uint8Array.from(atob(secret.replace(/^whsec_/, '')), letter => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

async function sign(key: Uint8Array<ArrayBuffer>, text: string, encoding: Claim['encoding']): Promise<string> {
  const bytes = await hmacOf(key, new TextEncoder().encode(text))
  if (encoding === 'base64') return btoa(String.fromCharCode(...bytes))
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Computes the HMAC. Browsers have `crypto.subtle` only on secure addresses. */
async function hmacOf(key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (crypto.subtle === undefined) return (await import('./hmac.ts')).hmacSha256(key, message)
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', hmac, message))
}
