// The data that the body of a webhook becomes, and the bodies that are handshakes (docs/webhooks.md#the-event).

import { describe, expect, test } from 'vitest'
import { handshakeReply, webhookData } from './body.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

function data(body: string | Buffer, type?: string) {
  const headers = type === undefined ? {} : { 'content-type': type }
  return webhookData({ headers, rawBody: Buffer.from(body) })
}

describe('the data of the event', () => {
  test.each(['{"n":12345678901234567890,"f":1.10,"a":1,"a":2}', '[]', 'null', '7', '"\\ud800\\u0000"'])(
    'is %s to the letter, whatever its type',
    body => {
      for (const type of [JSON_TYPE, 'text/plain', 'application/vnd.x+json', 'nonsense', undefined])
        expect(data(body, type)).toBe(body)
      expect(data(` \r\n${body}\n`, JSON_TYPE)).toBe(body)
    },
  )

  test('is a string of other text, and absent of none', () => {
    expect(data('order 7 shipped\n\u0000"☃"', 'text/plain')).toBe('"order 7 shipped\\n\\u0000\\"☃\\""')
    expect(data('{"half":', JSON_TYPE)).toBe('"{\\"half\\":"')
    expect(data('', JSON_TYPE)).toBeUndefined()
  })

  test('is an object of the fields of a form, in order, repeated ones as a list', () => {
    expect(data('a=1&b=%2F+x&a=2&__proto__=p&c', FORM_TYPE)).toBe('{"a":["1","2"],"b":"/ x","__proto__":"p","c":""}')
    expect(data('7', `${FORM_TYPE}; charset=utf-8`)).toBe('{"7":""}')
  })

  test('is the JSON in the one field `payload` of a form', () => {
    const payload = '{"type":"block_actions","n":1.0}'
    expect(data(`payload=${encodeURIComponent(payload)}`, FORM_TYPE)).toBe(payload)
    expect(data('payload=plain', FORM_TYPE)).toBe('{"payload":"plain"}')
    expect(data('payload=1&other=2', FORM_TYPE)).toBe('{"payload":"1","other":"2"}')
  })

  test('nests 200 levels deep and no deeper', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(data(nested(200))).toBe(nested(200))
    for (const depth of [201, 100_000])
      expect(() => data(nested(depth))).toThrow(expect.objectContaining({ code: 'invalid_json' }))
    expect(() => data(`payload=${nested(201)}`, FORM_TYPE)).toThrow('200 levels')
    // Brackets alone do not nest.
    expect(data('['.repeat(300))).toBe(`"${'['.repeat(300)}"`)
  })

  test('is refused for bytes that are not UTF-8', () => {
    expect(() => data(Buffer.from([0x22, 0xff, 0x22]))).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: 'body must be UTF-8' }),
    )
  })
})

describe('a handshake', () => {
  const post = (headers = {}) => ({ headers, rawBody: Buffer.alloc(0) })
  const challenge = '{"token":"t","challenge":"3eZbrw1a☃\\"","type":"url_verification"}'

  test("is Slack's challenge, answered in kind", () => {
    expect(handshakeReply('slack', post(), challenge)).toBe('{"challenge":"3eZbrw1a☃\\""}')
    expect(handshakeReply('standard-webhooks', post(), challenge)).toBeUndefined()
  })

  test.each([
    '"url_verification"',
    'null',
    '{"type":"url_verification"}',
    '{"text":"url_verification","challenge":"x"}',
    '["url_verification"]',
  ])('is not %s', body => expect(handshakeReply('slack', post(), body)).toBeUndefined())

  test("is GitHub's ping", () => {
    expect(handshakeReply('github', post({ 'x-github-event': 'ping' }), '{"zen":"…"}')).toBe('{}')
    expect(handshakeReply('github', post({ 'x-github-event': 'push' }), '{}')).toBeUndefined()
    expect(handshakeReply('hmac-sha256', post({ 'x-github-event': 'ping' }), '{}')).toBeUndefined()
  })
})
