// The examples of the OpenAPI document as requests to an engine: with its ids, its key and current signatures. Called by
// openapi.test.ts.

import type { Example, ListedOperation } from '@perdure/protocol/operations'
import { Webhook } from 'standardwebhooks'
import { unique } from '../../kit/index.ts'

export const KEY = 'a-secret-key-of-the-examples'

/** Replacements for the examples' own ids, by prefix, for a receiver's slug and secret, and for the key of the request. */
export type Ids = Partial<
  Record<
    'run' | 'evt' | 'dlv' | 'whe' | 'whr' | 'key' | 'blk' | 'slug' | 'secret' | 'token' | 'callback' | 'fingerprint',
    string
  >
>

/** The example with the ids of this engine, signed with the secret if there is one. */
export function asHere(example: Example, ids: Ids): Example {
  const text = JSON.stringify({ ...example, reply: undefined }).replace(
    /\b(run|evt|dlv|whe|whr|key|blk)_[0-9A-Z]{26}/g,
    (sample, prefix: keyof Ids) => ids[prefix] ?? sample,
  )
  const here = JSON.parse(text.replace('pdk_secret_...', KEY)) as Example
  if (ids.token !== undefined) here.headers = { authorization: `Bearer ${ids.token}` }
  if (ids.callback !== undefined && here.path) here.path.token = ids.callback
  if (ids.fingerprint !== undefined && here.path) here.path.fingerprint = ids.fingerprint
  if (ids.slug !== undefined && here.path?.slug) here.path.slug = ids.slug
  if (ids.secret === undefined || !here.headers) return here
  const [messageId, now] = [unique('msg'), new Date()]
  const signature = new Webhook(ids.secret).sign(messageId, now, JSON.stringify(here.body))
  const seconds = String(Math.floor(now.getTime() / 1000))
  here.headers = { 'webhook-id': messageId, 'webhook-timestamp': seconds, 'webhook-signature': signature }
  return here
}

export function pathOf({ path }: ListedOperation, example: Example): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => example.path?.[name] ?? `{${name}}`)
  const query = new URLSearchParams(example.query).toString()
  return query === '' ? filled : `${filled}?${query}`
}
