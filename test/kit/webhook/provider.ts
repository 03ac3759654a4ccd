// A provider of webhooks. It signs posts as each scheme prescribes, without the engine's own code.

import { createHmac } from 'node:crypto'
import type { Answer, Api } from '../http/api.ts'

export type Scheme = 'standard-webhooks' | 'github' | 'stripe' | 'slack' | 'hmac-sha256'

export interface Post {
  scheme: Scheme
  secret: string
  body: string | Uint8Array
  /** When the post is signed, in epoch ms. */
  at: number
  /** The message id, for schemes that send it as a header. */
  id?: string
}

/** The headers that sign the body. */
export function signedHeaders({ scheme, secret, body, at, id }: Post): Record<string, string> {
  const seconds = Math.floor(at / 1000)
  const hmac = (key: string | Buffer, prefix: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', key).update(prefix).update(body).digest(encoding)
  switch (scheme) {
    case 'standard-webhooks': {
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      return {
        'webhook-id': id ?? 'msg_1',
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${hmac(key, `${id ?? 'msg_1'}.${seconds}.`, 'base64')}`,
      }
    }
    case 'github':
      return {
        'x-hub-signature-256': `sha256=${hmac(secret, '', 'hex')}`,
        ...(id === undefined ? {} : { 'x-github-delivery': id }),
      }
    case 'stripe':
      return { 'stripe-signature': `t=${seconds},v1=${hmac(secret, `${seconds}.`, 'hex')}` }
    case 'slack':
      return {
        'x-slack-request-timestamp': String(seconds),
        'x-slack-signature': `v0=${hmac(secret, `v0:${seconds}:`, 'hex')}`,
      }
    case 'hmac-sha256':
      return {
        'x-signature-256': `sha256=${hmac(secret, '', 'hex')}`,
        ...(id === undefined ? {} : { 'x-webhook-id': id }),
      }
  }
}

/** Posts the signed body to the slug. `headers` are added, and replace signed headers of the same name. */
export function postWebhook(api: Api, slug: string, post: Post, headers: Record<string, string> = {}): Promise<Answer> {
  const all = { 'content-type': 'application/json', ...signedHeaders(post), ...headers }
  return api.request('POST', `/webhooks/${slug}`, { body: post.body, headers: all })
}
