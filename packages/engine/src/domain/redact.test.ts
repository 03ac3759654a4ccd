import { describe, expect, it } from 'vitest'
import { isSecretKey, REDACTED, redactFields } from './redact.ts'

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
    expect(redactFields({ [key]: 'x' })).toEqual({ [key]: REDACTED })
  })
})

describe('a key that only looks like one', () => {
  it.each(harmless)('%s', key => {
    expect(isSecretKey(key)).toBe(false)
    expect(redactFields({ [key]: 'x' })).toEqual({ [key]: 'x' })
  })
})

describe('redactFields', () => {
  it('replaces whole values, of any type', () => {
    const fields = { token: { id: 1 }, secret: ['a'], cookie: null, pwd: 7, ssn: false }
    expect(Object.values(redactFields(fields))).toEqual(Array(5).fill(REDACTED))
  })

  it('reaches into objects and arrays and leaves the rest as it was', () => {
    const fields = { user: { name: 'ada', login: [{ password: 'x', at: 1 }, [{ apiKey: 'y' }], 'password'] } }
    expect(redactFields(fields)).toEqual({
      user: { name: 'ada', login: [{ password: REDACTED, at: 1 }, [{ apiKey: REDACTED }], 'password'] },
    })
  })

  it('changes nothing in its input', () => {
    const fields = { a: { token: 'x' } }
    redactFields(fields)
    expect(fields).toEqual({ a: { token: 'x' } })
  })

  it('keeps __proto__ a key', () => {
    const fields = JSON.parse(
      '{"__proto__":{"token":"x","polluted":1},"constructor":{"prototype":{"pwd":"y"}}}',
    )
    const redacted = redactFields(fields)
    expect(JSON.stringify(redacted)).toBe(
      `{"__proto__":{"token":"${REDACTED}","polluted":1},"constructor":{"prototype":{"pwd":"${REDACTED}"}}}`,
    )
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('takes any depth, and redacts what lies deeper than JSON may be nested', () => {
    const levels = 100_000
    const deep = JSON.parse(`${'{"a":'.repeat(levels)}{"token":"x"}${'}'.repeat(levels)}`)
    const text = JSON.stringify(redactFields(deep))
    expect(text).toBe(`${'{"a":'.repeat(200)}"${REDACTED}"${'}'.repeat(200)}`)
    const edge = JSON.parse(`${'{"a":'.repeat(199)}{"b":1}${'}'.repeat(199)}`)
    expect(redactFields(edge)).toEqual(edge)
  })
})
