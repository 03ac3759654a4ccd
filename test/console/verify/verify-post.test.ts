// The check of a post in the tab agrees with the engine's: a post that a provider signed is right, any other post is not.

import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Scheme, verifyPost } from '../../../packages/console/src/routes/webhooks/receivers/verify-post.ts'

const SECRET = 'a secret of two sides'
const STANDARD = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const [BODY, SECONDS] = ['{"n":"ä"}', 1_700_000_000]
const hex = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
const base64 = (text: string) => createHmac('sha256', Buffer.alloc(24, 7)).update(text).digest('base64')

const SIGNED: Record<Scheme, string> = {
  'standard-webhooks': `webhook-id: m1\nwebhook-timestamp: ${SECONDS}\nwebhook-signature: v1,AAAA v1,${base64(`m1.${SECONDS}.${BODY}`)}`,
  github: `X-Hub-Signature-256: sha256=${hex(BODY)}`,
  stripe: `Stripe-Signature: t=${SECONDS}, v1=00, v1=${hex(`${SECONDS}.${BODY}`)}`,
  slack: `X-Slack-Request-Timestamp: ${SECONDS}\nX-Slack-Signature: v0=${hex(`v0:${SECONDS}:${BODY}`)}`,
  'hmac-sha256': `X-Signature-256: SHA256=${hex(BODY).toUpperCase()}`,
}
const secretOf = (scheme: Scheme) => (scheme === 'standard-webhooks' ? STANDARD : SECRET)
const schemes = Object.keys(SIGNED) as Scheme[]

test.each(schemes)('%s: what the provider signed is right; another body, secret or header is not', async scheme => {
  const post = { scheme, secret: secretOf(scheme), headers: SIGNED[scheme], body: BODY, nowMs: SECONDS * 1000 }
  expect(await verifyPost(post)).toEqual({ isRight: true, text: 'The signature is right.' })
  const other = scheme === 'standard-webhooks' ? `whsec_${Buffer.alloc(24, 8).toString('base64')}` : 'another'
  for (const wrong of [{ body: `${BODY} ` }, { secret: other }]) {
    expect((await verifyPost({ ...post, ...wrong })).text).toContain('The signature is wrong')
  }
  expect((await verifyPost({ ...post, headers: 'content-type: a/b' })).text).toContain('A header is missing')
})

test.each([
  [412, '412 s ago'],
  [-400, '400 s ahead'],
])('a time that is %d s off is named', async (off, words) => {
  const post = { scheme: 'slack' as const, secret: SECRET, headers: SIGNED.slack, body: BODY }
  const verdict = await verifyPost({ ...post, nowMs: (SECONDS + off) * 1000 })
  expect(verdict.isRight).toBe(false)
  expect(verdict.text).toContain(words)
})

test('a secret that is not base64 is named', async () => {
  const post = { scheme: 'standard-webhooks' as const, headers: SIGNED['standard-webhooks'], body: BODY, nowMs: 0 }
  expect((await verifyPost({ ...post, secret: 'whsec_%' })).text).toContain('base64')
})
