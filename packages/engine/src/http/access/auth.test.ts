import { describe, expect, test } from 'vitest'
import { apiKey, postJson, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'
import type { KeyKind } from '../../domain/model/api-key.ts'
import { KeyRing } from '../../services/admin/keys.ts'
import { authenticate, type KINDS } from './auth.ts'

const ring = (...keys: Parameters<typeof apiKey>[]) =>
  new KeyRing({ fixed: keys.map(key => apiKey(...key)), loopback: true })

const outcome = (action: () => unknown): unknown => {
  try {
    return action()
  } catch (error) {
    return (error as { code: unknown }).code
  }
}

/** A request to an engine of this machine, without a key. */
const HERE = { host: 'localhost:4777' }

describe('authenticate', () => {
  const keys = ring(['s', { kind: 'secret', namespace: 'acme', label: 'ops' }], ['r', { kind: 'read' }])

  test('answers the namespace, label and kind of the key', () => {
    expect(authenticate(keys, { authorization: 'Bearer s' }, { access: 'read' })).toEqual({
      namespace: 'acme',
      label: 'ops',
      keyId: 'ENGINE_API_KEYS[0]',
      kind: 'secret',
    })
  })

  test.each(['Bearer s', 'bearer s', 'BEARER s', 'Bearer   s  '])('understands %j', header => {
    expect(outcome(() => authenticate(keys, { authorization: header }, { access: 'read' }))).toMatchObject({
      label: 'ops',
    })
  })

  test.each([undefined, '', 'Bearer', 'Bearer ', 's', 'Basic s', 'Bearer x', 'Bearer s x', 'Token s'])(
    'takes no %j',
    header => {
      expect(outcome(() => authenticate(keys, { authorization: header }, { access: 'read' }))).toBe('unauthorized')
    },
  )

  test('without any key everyone acts in default, but a given key must be right', () => {
    expect(authenticate(ring(), HERE, { access: 'secret' })).toEqual({ namespace: 'default' })
    for (const authorization of ['Bearer s', 'Basic dTpw'])
      expect(outcome(() => authenticate(ring(), { ...HERE, authorization }, { access: 'read' }))).toBe('unauthorized')
  })

  test('an operation that always requires a key requires one even then', () => {
    const marked = { access: 'secret', alwaysKeyed: true } as const
    expect(outcome(() => authenticate(ring(), HERE, marked))).toBe('unauthorized')
    expect(outcome(() => authenticate(keys, { authorization: 'Bearer s' }, marked))).toMatchObject({
      label: 'ops',
    })
    expect(outcome(() => authenticate(keys, { authorization: 'Bearer r' }, marked))).toBe('forbidden')
  })

  test('a public operation reads no header', () => {
    const credentials = { authorization: 'Bearer wrong', host: 'evil.example' }
    for (const some of [keys, ring()])
      expect(authenticate(some, credentials, { access: 'public' })).toEqual({ namespace: 'default' })
  })

  test.each<[string, keyof typeof KINDS, string]>([
    ['readers', 'read', 'secret read'],
    ['event senders', 'event', 'secret event'],
    ['runners', 'runner', 'secret runner'],
    ['controllers', 'secret', 'secret'],
  ])('%s', (_, access, expected) => {
    const all: KeyKind[] = ['secret', 'read', 'event', 'runner']
    const admitted = all.filter(kind => {
      const result = outcome(() => authenticate(ring(['k', { kind }]), { authorization: 'Bearer k' }, { access }))
      expect(result === 'forbidden' || typeof result === 'object').toBe(true)
      return result !== 'forbidden'
    })
    expect(admitted.join(' ')).toBe(expected)
  })
})

describe('without any key, the Host header', () => {
  const authenticated = (host: string | undefined, keys = ring()) =>
    outcome(() => authenticate(keys, { host }, { access: 'read' }))

  test.each([
    'localhost',
    'localhost:4777',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.0.0.1:4777',
    '127.1.2.3:80',
    '[::1]:80',
    '[::1]',
  ])('may be %s', host => expect(authenticated(host)).toEqual({ namespace: 'default' }))

  test.each([
    'evil.example',
    'evil.example:4777',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    '10.0.0.1:4777',
    '0.0.0.0',
    '[::2]',
    '::1',
    'localhost:',
    'localhost:80\n.evil',
    '',
    undefined,
  ])('must not be %j', host => expect(authenticated(host)).toBe('forbidden'))

  test('may be anything once there is a key: that is the credential then', () => {
    const keys = ring(['s', {}])
    expect(
      outcome(() => authenticate(keys, { host: 'a.example', authorization: 'Bearer s' }, { access: 'read' })),
    ).toMatchObject({
      namespace: 'default',
      label: 's',
    })
    expect(authenticated('evil.example', keys)).toBe('unauthorized')
  })

  test('a wrong key is 401 whatever the host', () => {
    const credentials = { host: 'evil.example', authorization: 'Bearer x' }
    expect(outcome(() => authenticate(ring(), credentials, { access: 'read' }))).toBe('unauthorized')
  })
})

describe('routes', () => {
  test('refuse without a key before they read a body, and say how to send one', async () => {
    const { app } = await testApp({ config: { apiKeys: [apiKey('k')] } })
    const response = await postJson(app, '/events', '{')
    expect(refusal(response)).toBe('401 unauthorized')
    expect(response.headers['www-authenticate']).toBe('Bearer')
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    const headers = { authorization: 'Bearer wrong' }
    expect((await app.inject({ url: '/readyz', headers })).statusCode).toBe(200)
  })

  test('refuse a foreign Host without keys, except the probes', async () => {
    const { app } = await testApp()
    const headers = { host: 'evil.example' }
    expect(refusal(await app.inject({ url: '/runs', headers }))).toBe('403 forbidden')
    expect((await app.inject({ url: '/runs', headers: { host: '127.0.0.1:4777' } })).statusCode).toBe(200)
    expect((await app.inject({ url: '/healthz', headers })).statusCode).toBe(200)
  })
})

describe('without any key, the Origin of a web page', () => {
  const authenticated = (origin: string | undefined, allowed: string[] = [], keys = ring()) =>
    outcome(() => authenticate(keys, { ...HERE, origin }, { access: 'secret' }, allowed))

  test.each([undefined, 'http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:8080'])('may be %s', origin =>
    expect(authenticated(origin)).toEqual({ namespace: 'default' }),
  )

  test.each(['https://evil.example', 'http://localhost.evil.example', 'null', '', 'localhost', 'file://'])(
    'must not be %j',
    origin => expect(authenticated(origin)).toBe('forbidden'),
  )

  test('may be one that ENGINE_CORS_ORIGINS lists, and any with a star', () => {
    expect(authenticated('https://ops.example', ['https://ops.example'])).toEqual({ namespace: 'default' })
    expect(authenticated('https://evil.example', ['https://ops.example'])).toBe('forbidden')
    expect(authenticated('https://evil.example', ['*'])).toEqual({ namespace: 'default' })
  })

  test('does not matter once there is a key', () => {
    const credentials = { authorization: 'Bearer k', origin: 'https://evil.example' }
    expect(authenticate(ring(['k', {}]), credentials, { access: 'read' })).toMatchObject({ label: 'k' })
  })
})

describe('without any key, a request that a page of another site causes', () => {
  const outcomeOf = (site: string, origin?: string, allowed: string[] = [], keys = ring()) =>
    outcome(() => authenticate(keys, { ...HERE, origin, 'sec-fetch-site': site }, { access: 'read' }, allowed))

  test.each(['same-origin', 'same-site', 'none', ''])('is not one with Sec-Fetch-Site: %s', site =>
    expect(outcomeOf(site)).toEqual({ namespace: 'default' }),
  )

  test.each(['cross-site', 'Cross-Site', 'none, cross-site'])('is refused with Sec-Fetch-Site: %s', site =>
    expect(outcomeOf(site)).toBe('forbidden'),
  )

  test('is refused from another site of this machine too', () =>
    expect(outcomeOf('cross-site', 'http://localhost:3000')).toBe('forbidden'))

  test('is answered for a page that ENGINE_CORS_ORIGINS lists', () => {
    expect(outcomeOf('cross-site', 'https://ops.example', ['https://ops.example'])).toEqual({ namespace: 'default' })
    expect(outcomeOf('cross-site', 'https://ops.example', ['*'])).toEqual({ namespace: 'default' })
    expect(outcomeOf('cross-site', undefined, ['https://ops.example'])).toBe('forbidden')
  })

  test('needs the key, once there is one, and nothing else', () => {
    const credentials = { authorization: 'Bearer k', 'sec-fetch-site': 'cross-site' }
    expect(authenticate(ring(['k', {}]), credentials, { access: 'read' })).toMatchObject({ label: 'k' })
  })
})
