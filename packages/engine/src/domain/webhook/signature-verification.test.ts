// Signatures of providers: the samples they publish verify, and no changed sample does (docs/webhooks.md#schemes).

import { createHmac } from 'node:crypto'
import { RECEIVER_SCHEMES, SIGNATURE_WINDOW_MS, signWebhook } from '@perdure/protocol'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { type ReceiverScheme, secretFault } from '../model/receiver.ts'
import type { WebhookHeaders } from './schemes.ts'
import { verifySignature } from './signature-verification.ts'

interface Sample {
  secret: string
  headers: Record<string, string>
  body: string
  /** When the sample was signed, in epoch seconds. */
  at: number
  messageId?: string
}

const form = [
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V',
  'channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=',
  'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN',
  'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
].join('&')

/** Samples from the documentation of the providers; for Stripe and the plain HMAC, made with `openssl dgst`. */
const SAMPLES: Record<ReceiverScheme, Sample> = {
  'standard-webhooks': {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    at: 1614265330,
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  },
  github: {
    secret: "It's a Secret to Everybody",
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    },
    body: 'Hello, World!',
    at: 1614265330,
    messageId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  stripe: {
    secret: 'whsec_5f0e1c7a9b3d4e6f8a2b4c6d8e0f1a3b',
    headers: {
      'stripe-signature': `t=1700000000,v1=888d1ec830c4a7e8b4bc33c6285d869eb2bde23652ba19a4a0f233c5b32ea369,v0=${'6'.repeat(64)}`,
    },
    body: '{"id":"evt_1OfA2eLkdIwHu7ixN5dGzJqT","object":"event","type":"charge.succeeded"}',
    at: 1700000000,
    messageId: 'evt_1OfA2eLkdIwHu7ixN5dGzJqT',
  },
  slack: {
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'x-slack-request-timestamp': '1531420618',
    },
    body: form,
    at: 1531420618,
  },
  'hmac-sha256': {
    secret: 'a-shared-secret-of-two',
    headers: {
      'x-signature-256': 'sha256=1721af518faad97758beb28666f8a40d9d14e75945ac12e7983127e7e6fc49c7',
      'idempotency-key': 'key-1',
    },
    body: '{"n":1}',
    at: 1614265330,
    messageId: 'key-1',
  },
}

interface Touched {
  secrets?: readonly string[]
  headers?: WebhookHeaders
  body?: string | Buffer
  now?: number
}

/** Verifies a sample with some of its parts replaced. */
function judge(scheme: ReceiverScheme, touched: Touched = {}) {
  const { secret, headers, body, at } = SAMPLES[scheme]
  const post = { headers: touched.headers ?? headers, rawBody: Buffer.from(touched.body ?? body) }
  return verifySignature(scheme, touched.secrets ?? [secret], { ...post, now: touched.now ?? at * 1000 })
}

/** The sample with one header changed. */
function withHeader(scheme: ReceiverScheme, name: string, value: string | undefined): Touched {
  return { headers: { ...SAMPLES[scheme].headers, [name]: value } }
}

const SIGNATURES: Record<ReceiverScheme, string> = {
  'standard-webhooks': 'webhook-signature',
  github: 'x-hub-signature-256',
  stripe: 'stripe-signature',
  slack: 'x-slack-signature',
  'hmac-sha256': 'x-signature-256',
}
const TIMED = ['standard-webhooks', 'stripe', 'slack'] as const

describe.each(RECEIVER_SCHEMES)('%s', scheme => {
  const { secret, headers, body, messageId } = SAMPLES[scheme]

  test("the provider's sample verifies, with its message id", () => {
    expect(judge(scheme)).toEqual({ ok: true, ...(messageId ? { messageId } : {}) })
  })

  test('either of two secrets verifies, in any order; none does not', () => {
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    expect(judge(scheme, { secrets: [other, secret] }).ok).toBe(true)
    expect(judge(scheme, { secrets: [secret, other] }).ok).toBe(true)
    expect(judge(scheme, { secrets: [other] })).toMatchObject({ ok: false })
    expect(judge(scheme, { secrets: [] })).toMatchObject({ ok: false })
  })

  test('no byte of the body can be changed, added or left out', () => {
    const bytes = Buffer.from(body)
    const flipped = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })).map(([i, bits]) => {
      const copy = Buffer.from(bytes)
      copy[i] = (copy[i] as number) ^ bits
      return copy
    })
    const longer = fc.uint8Array({ minLength: 1 }).map(more => Buffer.concat([bytes, more]))
    const shorter = fc.nat(bytes.length - 1).map(length => bytes.subarray(0, length))
    fc.assert(
      fc.property(fc.oneof(flipped, longer, shorter), body => {
        expect(judge(scheme, { body })).toMatchObject({ ok: false })
      }),
    )
  })

  test('no character of a signature can be changed', () => {
    const name = SIGNATURES[scheme]
    const given = headers[name] as string
    const [from = 0, to = given.length] = scheme === 'stripe' ? [16, 16 + 64] : []
    fc.assert(
      fc.property(
        fc.integer({ min: from, max: to - 1 }),
        fc.constantFrom(...'0123456789abcdefghijkABC+/=,_- '),
        (i, character) => {
          fc.pre(given[i]?.toLowerCase() !== character.toLowerCase())
          const changed = given.slice(0, i) + character + given.slice(i + 1)
          expect(judge(scheme, withHeader(scheme, name, changed))).toMatchObject({ ok: false })
        },
      ),
    )
  })

  test('without its headers, or with them twice, it does not verify', () => {
    for (const name of Object.keys(headers)) {
      if (name === 'x-github-delivery' || name === 'idempotency-key') continue
      expect(judge(scheme, withHeader(scheme, name, undefined)), name).toMatchObject({ ok: false })
      expect(judge(scheme, withHeader(scheme, name, '')), name).toMatchObject({ ok: false })
      const twice = { ...headers, [name]: [headers[name] as string, headers[name] as string] }
      expect(judge(scheme, { headers: twice }), name).toMatchObject({ ok: false })
    }
  })

  test("another scheme's sample does not verify", () => {
    for (const other of RECEIVER_SCHEMES) {
      if (other === scheme) continue
      const { headers, body } = SAMPLES[other]
      expect(judge(scheme, { headers, body, secrets: [SAMPLES[other].secret] })).toMatchObject({ ok: false })
    }
  })
})

describe.each(TIMED)('the time of %s', scheme => {
  const now = SAMPLES[scheme].at * 1000

  test('may lie 300 s before and after now, and no further', () => {
    for (const off of [-SIGNATURE_WINDOW_MS, SIGNATURE_WINDOW_MS])
      expect(judge(scheme, { now: now + off }).ok).toBe(true)
    for (const off of [-SIGNATURE_WINDOW_MS - 1, SIGNATURE_WINDOW_MS + 1])
      expect(judge(scheme, { now: now + off }).ok).toBe(false)
  })

  test('is signed: it cannot be moved', () => {
    const moved = (seconds: string) =>
      Object.fromEntries(
        Object.entries(SAMPLES[scheme].headers).map(([name, value]) => [
          name,
          value.replace(String(SAMPLES[scheme].at), seconds),
        ]),
      )
    fc.assert(
      fc.property(fc.integer({ min: -300, max: 300 }), seconds => {
        fc.pre(seconds !== 0)
        expect(judge(scheme, { headers: moved(String(SAMPLES[scheme].at + seconds)) }).ok).toBe(false)
      }),
    )
    for (const odd of ['', 'now', 'NaN', '1e9', '-1', ' ', '9'.repeat(400), `${SAMPLES[scheme].at}.0`])
      expect(judge(scheme, { headers: moved(odd) }).ok, odd).toBe(false)
  })
})

describe('standard-webhooks', () => {
  const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
  const body = '{"naïve":"☃"}'
  const signed = (id: string, at: Date, text: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': text,
  })

  test('what the reference library signs verifies, whatever the body', () => {
    const at = new Date()
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\w-]{1,40}$/), (body, id) => {
        const headers = signed(id, at, new Webhook(secret).sign(id, at, body))
        const post = { headers, rawBody: Buffer.from(body), now: at.getTime() }
        expect(verifySignature('standard-webhooks', [secret], post)).toEqual({ ok: true, messageId: id })
      }),
    )
  })

  test('what verifies here verifies with the reference library', () => {
    const at = new Date()
    const timestamp = String(Math.floor(at.getTime() / 1000))
    const headers = signed('msg_1', at, signWebhook(secret, { id: 'msg_1', timestamp, body }))
    const post = { headers, rawBody: Buffer.from(body), now: at.getTime() }
    expect(verifySignature('standard-webhooks', [secret], post).ok).toBe(true)
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    const forged = { ...headers, 'webhook-id': 'msg_2' }
    expect(verifySignature('standard-webhooks', [secret], { ...post, headers: forged }).ok).toBe(false)
    expect(() => new Webhook(secret).verify(body, forged)).toThrow()
  })

  test('one good signature among several suffices; other versions are passed over', () => {
    const good = SAMPLES['standard-webhooks'].headers['webhook-signature'] as string
    const of = (text: string) => judge('standard-webhooks', withHeader('standard-webhooks', 'webhook-signature', text))
    expect(of(`v1,${'A'.repeat(43)}= ${good}`).ok).toBe(true)
    expect(of(`v1a,zzz ${good} v1,short`).ok).toBe(true)
    expect(of(good.replace('v1,', 'v2,')).ok).toBe(false)
    expect(of(good.replace('v1,', '')).ok).toBe(false)
  })

  test('is taken with the header names of Svix too, but not with half of each', () => {
    const { headers } = SAMPLES['standard-webhooks']
    const svix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
    )
    expect(judge('standard-webhooks', { headers: svix }).ok).toBe(true)
    const { 'webhook-id': id } = headers
    expect(judge('standard-webhooks', { headers: { ...svix, 'webhook-id': id, 'svix-id': undefined } }).ok).toBe(false)
  })
})

describe('message ids', () => {
  const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
  const stripe = (body: string) => {
    const { secret, at } = SAMPLES.stripe
    return judge('stripe', {
      headers: { 'stripe-signature': `t=${at},v1=${hmac(secret, `${at}.${body}`)}` },
      body,
    })
  }
  const slack = (body: string) => {
    const { secret, at } = SAMPLES.slack
    const headers = {
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${hmac(secret, `v0:${at}:${body}`)}`,
    }
    return judge('slack', { headers, body })
  }

  test("of Slack is the event's, of Stripe the event object's", () => {
    expect(slack('{"type":"event_callback","event_id":"Ev08MFMKH6"}')).toEqual({
      ok: true,
      messageId: 'Ev08MFMKH6',
    })
    expect(stripe('{"id":"evt_1"}')).toEqual({ ok: true, messageId: 'evt_1' })
  })

  test.each(['', 'no JSON', 'null', '7', '"id"', '[]', '{"id":7}', '{"id":""}', '{"id":null}', '{}'])(
    'there is none in %j, which verifies all the same',
    body => expect(stripe(body)).toEqual({ ok: true }),
  )

  test('of GitHub and of the plain HMAC may be missing', () => {
    expect(judge('github', withHeader('github', 'x-github-delivery', undefined))).toEqual({ ok: true })
    expect(judge('hmac-sha256', withHeader('hmac-sha256', 'idempotency-key', undefined))).toEqual({
      ok: true,
    })
    expect(judge('hmac-sha256', withHeader('hmac-sha256', 'x-webhook-id', 'w-1'))).toEqual({
      ok: true,
      messageId: 'w-1',
    })
  })

  test('the plain HMAC may be in capitals', () => {
    const { 'x-signature-256': text = '' } = SAMPLES['hmac-sha256'].headers
    expect(judge('hmac-sha256', withHeader('hmac-sha256', 'x-signature-256', text.toUpperCase())).ok).toBe(true)
  })
})

describe('a secret that is brought along', () => {
  const base64 = (bytes: number) => Buffer.alloc(bytes, 5).toString('base64')

  test.each([`whsec_${base64(32)}`, `whsec_${base64(24)}`, `whsec_${base64(16)}`])('%s is fine', secret => {
    expect(secretFault('standard-webhooks', secret)).toBeUndefined()
  })

  test.each(['whsec_', 'whsec_ü'.repeat(4), `whsec_${base64(32)}!`, `whsec_${base64(15)}`, base64(32), 'x'.repeat(40)])(
    '%s is not, for Standard Webhooks',
    secret => expect(secretFault('standard-webhooks', secret)).toMatch(/^must /),
  )

  test('any 16 characters are, for the others', () => {
    for (const scheme of ['github', 'stripe', 'slack', 'hmac-sha256'] as const) {
      expect(secretFault(scheme, 'x'.repeat(16))).toBeUndefined()
      expect(secretFault(scheme, 'x'.repeat(15))).toBe('must have at least 16 characters')
    }
  })
})
