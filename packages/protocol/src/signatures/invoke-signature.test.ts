// Signatures of invokes: their format, their window, key rotation, and headers that do not verify.

import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isAddressed,
  keyFingerprint,
  recipientOf,
  SIGNATURE_WINDOW_MS,
  signBody,
  signFor,
  UNSIGNED,
  verifyBody,
  verifyFor,
} from './invoke-signature.ts'

const NOW_MS = 1_767_225_600_500
const T = 1_767_225_600
const body = '{"steps":{}}'
const signed = (...keys: string[]) => signBody({ keys, body, nowMs: NOW_MS })
const verify = (
  header: string | undefined,
  options: { keys?: string[]; body?: string | Uint8Array; nowMs?: number } = {},
) => verifyBody({ keys: ['k1'], body, nowMs: NOW_MS, header, ...options })

describe('a signature', () => {
  it('is the time in seconds and the HMAC-SHA256 of time, dot and body', () => {
    const mac = createHmac('sha256', 'k1').update(`${T}.${body}`).digest('hex')
    expect(signed('k1')).toBe(`t=${T},v1=${mac}`)
  })

  it('is the marker `v0` without a key', () => {
    expect(signed()).toBe(UNSIGNED)
    expect(UNSIGNED).toBe('v0')
  })

  it('covers the raw bytes of the body, given as text or as bytes', () => {
    expect(verify(signed('k1'), { body: new TextEncoder().encode(body) })).toBe(true)
    const bytes = Uint8Array.from([0, 0xff, 0xfe, 10])
    expect(verify(signBody({ keys: ['k1'], body: bytes, nowMs: NOW_MS }), { body: bytes })).toBe(true)
    expect(verify(signed('k1'), { body: '{"steps": {}}' })).toBe(false)
    expect(verify(signed('k1'), { body: '' })).toBe(false)
  })
})

describe('a signature is valid for 300 seconds', () => {
  it('and not one ms longer, in the past or the future', () => {
    expect(SIGNATURE_WINDOW_MS).toBe(300_000)
    const header = signed('k1')
    expect(verify(header, { nowMs: T * 1000 + 300_000 })).toBe(true)
    expect(verify(header, { nowMs: T * 1000 + 300_001 })).toBe(false)
    expect(verify(header, { nowMs: T * 1000 - 300_000 })).toBe(true)
    expect(verify(header, { nowMs: T * 1000 - 300_001 })).toBe(false)
  })

  it('and its time cannot be changed, because the time is signed', () => {
    const later = signed('k1').replace(`t=${T}`, `t=${T + 600}`)
    expect(verify(later, { nowMs: NOW_MS + 600_000 })).toBe(false)
  })
})

describe('during a rotation', () => {
  it('both keys sign, and one of them is enough to verify', () => {
    const both = signed('new', 'old')
    expect(both.match(/v1=/g)).toHaveLength(2)
    expect(verify(both, { keys: ['old'] })).toBe(true)
    expect(verify(both, { keys: ['new'] })).toBe(true)
    expect(verify(signed('old'), { keys: ['new', 'old'] })).toBe(true)
  })

  it('a third key does not verify', () => {
    expect(verify(signed('new', 'old'), { keys: ['other'] })).toBe(false)
  })
})

describe('these do not verify:', () => {
  const [time, mac] = signed('k1').split(',') as [string, string]

  it.each([
    ['no header', undefined],
    ['an empty one', ''],
    ['the marker of no signature', UNSIGNED],
    ['the marker beside a time', `${time},v0`],
    ['a time alone', time],
    ['a mac alone', mac],
    ['a mac cut short', `${time},${mac.slice(0, -1)}`],
    ['a mac of another case', `${time},${mac.toUpperCase().replace('V1', 'v1')}`],
    ['a mac with a character appended', `${time},${mac}0`],
    ['a time that is not a number', `t=now,${mac}`],
    ['a time that is not a whole number', `t=${T}.5,${mac}`],
    ['an empty time', `t=,${mac}`],
  ])('%s', (_, header) => {
    expect(verify(header)).toBe(false)
  })

  it('any header, when no keys are given', () => {
    expect(verify(signed('k1'), { keys: [] })).toBe(false)
    expect(verify(signed(), { keys: [] })).toBe(false)
  })

  it('any other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map(text => `${time},v1=${text}`),
        ),
        header => {
          expect(verify(header)).toBe(false)
        },
      ),
    )
  })
})

describe('a signature for a recipient', () => {
  const ours = recipientOf('shop', 'shop-1')
  const signed = (...keys: string[]) => signFor({ keys, purpose: 'invoke', recipient: ours, body, nowMs: NOW_MS })
  const recipient = (header: string, options: Partial<Parameters<typeof verifyFor>[0]> = {}) =>
    verifyFor({ keys: ['k1'], purpose: 'invoke', body, nowMs: NOW_MS, header, ...options })

  it('covers purpose, time, recipient and body', () => {
    const mac = createHmac('sha256', 'k1').update(`v2.invoke.${T}.${ours}.${body}`).digest('hex')
    expect(signed('k1')).toBe(`t=${T},r=${ours},v2=${mac}`)
    expect(ours).toBe(createHash('sha256').update('shop\nshop-1').digest('hex'))
    expect(recipient(signed('k1'))).toBe(ours)
  })

  it('names its recipient, which no other request can take', () => {
    const theirs = recipientOf('shop', 'shop-2')
    expect(recipient(signed('k1').replace(ours, theirs))).toBeUndefined()
    expect(recipient(signed('k1'), { purpose: 'connect' })).toBeUndefined()
    expect(recipient(signed('k1'), { body: `${body} ` })).toBeUndefined()
    expect(recipient(signed('k1'), { nowMs: NOW_MS + 301_000 })).toBeUndefined()
    expect(recipient(signed('other'))).toBeUndefined()
    expect(recipient(signed('k1').replace(`r=${ours},`, ''))).toBeUndefined()
  })

  it('does not let a recipient take characters of the body', () => {
    const whole = `a.${body}`
    const header = signFor({ keys: ['k1'], purpose: 'invoke', recipient: ours, body: whole, nowMs: NOW_MS })
    expect(recipient(header.replace(ours, `${ours}.a`), { body })).toBeUndefined()
  })

  it('never verifies as one of the other form', () => {
    expect(verify(signed('k1'))).toBe(false)
    expect(recipient(signBody({ keys: ['k1'], body, nowMs: NOW_MS }))).toBeUndefined()
    const renamed = signBody({ keys: ['k1'], body, nowMs: NOW_MS }).replace('v1=', `r=${ours},v2=`)
    expect(recipient(renamed)).toBeUndefined()
    expect([signed('k1'), signBody({ keys: ['k1'], body, nowMs: NOW_MS }), undefined].map(isAddressed)).toEqual([
      true,
      false,
      false,
    ])
  })

  it('is made by both keys during a rotation, and is the marker `v0` without one', () => {
    expect(recipient(signed('new', 'old'), { keys: ['old'] })).toBe(ours)
    expect(signed()).toBe(UNSIGNED)
  })
})

it('spaces after commas are ignored', () => {
  expect(verify(signed('k1').replace(',', ', '))).toBe(true)
})

it('the fingerprint of a key is the first 16 hex digits of its SHA-256', () => {
  expect(keyFingerprint('abc')).toBe('ba7816bf8f01cfea')
})
