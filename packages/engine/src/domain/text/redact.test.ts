import { isSecretKey, REDACTED } from '@perdure/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactFields } from './redact.ts'

const redacted = (fields: object) => JSON.parse(redactFields(JSON.stringify(fields)))

const secret = [
  'password',
  'PASSWORD',
  'Password',
  'userPassword',
  'user_password',
  'user-password',
  'user.password.hash',
  'dbPasswd',
  'pwd',
  'PWD',
  'rootPwd',
  'passphrase',
  'ssh passphrase',
  'secret',
  'clientSecret',
  'CLIENT_SECRET',
  'secret2',
  'token',
  'accessToken',
  'access_token',
  'HTTPToken',
  'refreshTokenHash',
  'x-auth-token',
  'oauth2Token',
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'sessionCookie',
  'credential',
  'credentials',
  'awsCredentials',
  'cvv',
  'cardCvv',
  'cvc',
  'ssn',
  'userSSN',
  'apikey',
  'APIKEY',
  'myapikeys',
  'x-apikey-id',
  'ApiKey',
  'apiKey',
  'APIKey',
  'api_key',
  'X-API-Key',
  'stripe.api.key',
  'accessKey',
  'aws_access_key_id',
  'privateKey',
  'PRIVATE_KEY',
  'signingKey',
  'engine-signing-key',
  'cardNumber',
  'card_number',
  'CARD NUMBER',
]

const harmless = [
  '',
  'tokens',
  'tokenize',
  'totalTokens',
  'author',
  'authorized',
  'secretary',
  'secrets',
  'keyboard',
  'monkey',
  'key',
  'keys',
  'publicKey',
  'primary_key',
  'accessKeys',
  'keyApi',
  'api',
  'apiVersionKey',
  'private',
  'privateNote',
  'card',
  'cardHolder',
  'number',
  'orderNumber',
  'numberCard',
  'cookies',
  'cookieless',
  'passwordless',
  'pass',
  'session',
  'cvvs',
  'lessn',
  'assn',
  'signing',
]

describe('a key that names a secret', () => {
  it.each(secret)('%s', key => {
    expect(isSecretKey(key)).toBe(true)
    expect(redacted({ [key]: 'x' })).toEqual({ [key]: REDACTED })
  })
})

describe('a key that only looks like one', () => {
  it.each(harmless)('%s', key => {
    expect(isSecretKey(key)).toBe(false)
    expect(redacted({ [key]: 'x' })).toEqual({ [key]: 'x' })
  })
})

describe('redactFields', () => {
  it('replaces whole values, of any type', () => {
    const fields = { token: { id: 1 }, secret: ['a'], cookie: null, pwd: 7, ssn: false }
    expect(Object.values(redacted(fields))).toEqual(Array(5).fill(REDACTED))
  })

  it('reaches into objects and arrays and leaves the rest as it was', () => {
    const fields = { user: { name: 'ada', login: [{ password: 'x', at: 1 }, [{ apiKey: 'y' }], 'password'] } }
    expect(redacted(fields)).toEqual({
      user: { name: 'ada', login: [{ password: REDACTED, at: 1 }, [{ apiKey: REDACTED }], 'password'] },
    })
  })

  it.each([
    '{"n":9007199254740993,"huge":1e400,"zero":-0,"price":1.50}',
    '{ "a" : 1 ,\n"a" : [ 2 ] , "text": "token\\": \\u0041\\ud800" }',
    '{"__proto__":{"polluted":1},"constructor":{"prototype":[]}}',
  ])('keeps %s to the letter', text => {
    expect(redactFields(text)).toBe(text)
    expect(redactFields(`{"pwd" : {"a":[1]},"rest":${text}}`)).toBe(`{"pwd" : "${REDACTED}","rest":${text}}`)
  })

  it('replaces each of two equal keys, and a key that is written with escapes', () => {
    const hidden = `"${REDACTED}"`
    expect(redactFields('{"token":1,"token":{"a":2}}')).toBe(`{"token":${hidden},"token":${hidden}}`)
    expect(redactFields('{"\\u0074oken":"x","a\\"secret":1}')).toBe(`{"\\u0074oken":${hidden},"a\\"secret":${hidden}}`)
  })

  it('keeps __proto__ a key', () => {
    const fields = '{"__proto__":{"token":"x","polluted":1},"constructor":{"prototype":{"pwd":"y"}}}'
    expect(redactFields(fields)).toBe(
      `{"__proto__":{"token":"${REDACTED}","polluted":1},"constructor":{"prototype":{"pwd":"${REDACTED}"}}}`,
    )
  })

  it('takes any depth, and redacts what lies deeper than JSON may be nested', () => {
    const levels = 100_000
    const deep = `${'{"a":'.repeat(levels)}{"token":"x"}${'}'.repeat(levels)}`
    expect(redactFields(deep)).toBe(`${'{"a":'.repeat(200)}"${REDACTED}"${'}'.repeat(200)}`)
    const edge = `${'{"a":'.repeat(199)}{"b":1}${'}'.repeat(199)}`
    expect(redactFields(edge)).toBe(edge)
  })

  it('finds what a walk over the parsed fields would', () => {
    const key = fc.constantFrom('token', 'a', 'user "password"', 'b\\', '')
    const fields = fc.dictionary(
      key,
      fc.jsonValue().map(value => ({ value, pwd: [value] })),
    )
    const walked = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(walked)
      const hide = ([name, member]: [string, unknown]) => [name, isSecretKey(name) ? REDACTED : walked(member)]
      return Object.fromEntries(Object.entries(value).map(hide))
    }
    fc.assert(
      fc.property(fields, fields => {
        expect(redacted(fields)).toEqual(walked(JSON.parse(JSON.stringify(fields))))
      }),
    )
  })
})
