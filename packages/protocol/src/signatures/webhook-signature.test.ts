// Checks signatures against the library of the Standard Webhooks project, in both directions, and refuses forged and
// old ones.

import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { isMalformedWebhookSecret, signWebhook, verifyWebhook, webhookKeyOf } from './webhook-signature.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
const body = '{"naïve":"☃"}'
const at = new Date('2031-05-20T12:00:00Z')
const timestamp = String(at.getTime() / 1000)

const headersOf = (signature: string) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
})
const signed = headersOf(signWebhook(secret, { id: 'msg_1', timestamp, body }))
const judge = (options: Partial<Parameters<typeof verifyWebhook>[0]>) =>
  verifyWebhook({ secret, headers: signed, body, nowMs: at.getTime(), ...options })

test('a signature of the standard library verifies, for any body and id', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\w-]{1,40}$/), (body, id) => {
      const headers = { ...headersOf(new Webhook(secret).sign(id, at, body)), 'webhook-id': id }
      expect(judge({ headers, body: Buffer.from(body) })).toBe('verified')
    }),
  )
})

test('the standard library verifies our signature', () => {
  const now = String(Math.floor(Date.now() / 1000))
  const signature = signWebhook(secret, { id: 'msg_1', timestamp: now, body })
  const headers = { ...headersOf(signature), 'webhook-timestamp': now }
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
})

test('one valid signature among several is enough, as after a rotation', () => {
  const both = `${signWebhook(other, { id: 'msg_1', timestamp, body })} ${signed['webhook-signature']}`
  expect(judge({ headers: headersOf(both) })).toBe('verified')
})

test('the window is 300 s before and after, to the millisecond', () => {
  expect([-300_001, -300_000, 300_000, 300_001].map(ms => judge({ nowMs: at.getTime() + ms }))).toEqual([
    'stale',
    'verified',
    'verified',
    'stale',
  ])
})

test.each([
  ['another secret', { secret: other }, 'mismatch'],
  ['another body', { body: `${body} ` }, 'mismatch'],
  ['another id', { headers: { ...signed, 'webhook-id': 'msg_2' } }, 'mismatch'],
  ['another time', { headers: { ...signed, 'webhook-timestamp': `${Number(timestamp) + 1}` } }, 'mismatch'],
  ['another version', { headers: headersOf(signed['webhook-signature'].replace('v1', 'v2')) }, 'mismatch'],
  ['half a signature', { headers: headersOf(signed['webhook-signature'].slice(0, -4)) }, 'mismatch'],
  ['an empty signature', { headers: headersOf('') }, 'mismatch'],
  ['no id', { headers: { ...signed, 'webhook-id': undefined } }, 'mismatch'],
  ['a repeated header', { headers: { ...signed, 'webhook-id': ['msg_1', 'msg_1'] } }, 'mismatch'],
  ['no signature', { headers: { ...signed, 'webhook-signature': undefined } }, 'unsigned'],
] as const)('%s: %o is %s', (_, options, verdict) => {
  expect(judge(options as Parameters<typeof judge>[0])).toBe(verdict)
})

test('a secret with the prefix is decoded from base64; another one is used as text', () => {
  expect(webhookKeyOf(secret)).toEqual(Buffer.alloc(32, 3))
  expect(webhookKeyOf('not base64!')).toEqual(Buffer.from('not base64!'))
  expect(['whsec_', 'whsec_a', 'whsec_%%%%', secret, 'plain'].map(isMalformedWebhookSecret)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})
