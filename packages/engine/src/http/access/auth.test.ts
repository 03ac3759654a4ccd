import { describe, expect, test } from 'vitest'
import { Faces, refusal, testApp } from '../http.testkit.ts'
import { authenticate, type KINDS } from './auth.ts'
import type { ApiKey, KeyKind } from './deps.ts'

function ring(...keys: [string, Partial<ApiKey>][]) {
  const faces = new Faces()
  for (const [secret, key] of keys) faces.addKey(secret, key)
  return faces.deps('silent').keys
}

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

  test('answers the namespace and label of the key', () => {
    expect(authenticate(keys, { authorization: 'Bearer s' }, { access: 'read' })).toEqual({
      namespace: 'acme',
      label: 'ops',
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
      expect(outcome(() => authenticate(keys, { authorization: header }, { access: 'read' }))).toBe(
        'unauthorized',
      )
    },
  )

  test('without any key everyone acts in default, but a key that is given must be right', () => {
    expect(authenticate(ring(), HERE, { access: 'secret' })).toEqual({ namespace: 'default' })
    for (const authorization of ['Bearer s', 'Basic dTpw'])
      expect(outcome(() => authenticate(ring(), { ...HERE, authorization }, { access: 'read' }))).toBe(
        'unauthorized',
      )
  })

  test('what the contract marks asks for a key even then', () => {
    const marked = { access: 'secret', alwaysKeyed: true } as const
    expect(outcome(() => authenticate(ring(), HERE, marked))).toBe('unauthorized')
    expect(outcome(() => authenticate(keys, { authorization: 'Bearer s' }, marked))).toMatchObject({
      label: 'ops',
    })
    expect(outcome(() => authenticate(keys, { authorization: 'Bearer r' }, marked))).toBe('forbidden')
  })

  test('what is public looks at nothing', () => {
    const asked = { authorization: 'Bearer wrong', host: 'evil.example' }
    for (const some of [keys, ring()])
      expect(authenticate(some, asked, { access: 'public' })).toEqual({ namespace: 'default' })
  })

  test.each<[string, keyof typeof KINDS, string]>([
    ['readers', 'read', 'secret read'],
    ['event senders', 'event', 'secret event'],
    ['runners', 'runner', 'secret runner'],
    ['controllers', 'secret', 'secret'],
  ])('%s', (_, access, expected) => {
    const all: KeyKind[] = ['secret', 'read', 'event', 'runner']
    const admitted = all.filter(kind => {
      const result = outcome(() =>
        authenticate(ring(['k', { kind }]), { authorization: 'Bearer k' }, { access }),
      )
      expect(result === 'forbidden' || typeof result === 'object').toBe(true)
      return result !== 'forbidden'
    })
    expect(admitted.join(' ')).toBe(expected)
  })
})

describe('without any key, the Host header', () => {
  const ask = (host: string | undefined, keys = ring()) =>
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
  ])('may be %s', host => expect(ask(host)).toEqual({ namespace: 'default' }))

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
  ])('must not be %j', host => expect(ask(host)).toBe('forbidden'))

  test('may be anything once there is a key: that is the credential then', () => {
    const keys = ring(['s', {}])
    expect(
      outcome(() => authenticate(keys, { host: 'a.example', authorization: 'Bearer s' }, { access: 'read' })),
    ).toEqual({
      namespace: 'default',
      label: 's',
    })
    expect(ask('evil.example', keys)).toBe('unauthorized')
  })

  test('a wrong key is 401 whatever the host', () => {
    const asked = { host: 'evil.example', authorization: 'Bearer x' }
    expect(outcome(() => authenticate(ring(), asked, { access: 'read' }))).toBe('unauthorized')
  })
})

/** A route of each access, with the kinds of key that open it besides a secret one; test/scenario/admin/access.test.ts has all. */
const ROUTES: ['GET' | 'POST', string, KeyKind[]][] = [
  ['GET', '/runs', ['read']],
  ['GET', '/runs/run_1/stream', ['read']],
  ['POST', '/events', ['event']],
  ['POST', '/register', ['runner']],
  ['POST', '/runs/run_1/cancel', []],
]

describe('routes', () => {
  test.each(ROUTES)('%s %s', async (method, url, kinds) => {
    const { app, faces } = testApp()
    for (const kind of ['secret', 'read', 'event', 'runner'] as const) faces.addKey(`k-${kind}`, { kind })
    const ask = async (authorization?: string): Promise<string> => {
      const response = await app.inject({ method, url, headers: authorization ? { authorization } : {} })
      return response.statusCode === 401 || response.statusCode === 403 ? refusal(response) : 'let in'
    }
    expect(await ask()).toBe('401 unauthorized')
    expect(await ask('Bearer nobody')).toBe('401 unauthorized')
    for (const kind of ['read', 'event', 'runner'] as const) {
      expect(await ask(`Bearer k-${kind}`)).toBe(kinds.includes(kind) ? 'let in' : '403 forbidden')
    }
    expect(await ask('Bearer k-secret')).toBe('let in')
  })

  test('a refusal says how to ask', async () => {
    const { app, faces } = testApp()
    faces.addKey('k', {})
    const response = await app.inject('/runs')
    expect(response.headers['www-authenticate']).toBe('Bearer')
  })

  test('nobody unknown makes the engine read a body', async () => {
    const { app, faces } = testApp()
    faces.addKey('k', {})
    const headers = { 'content-type': 'application/json' }
    const response = await app.inject({ method: 'POST', url: '/events', headers, payload: '{' })
    expect(refusal(response)).toBe('401 unauthorized')
  })

  test('without keys a foreign Host is refused, but not by the probes', async () => {
    const { app } = testApp()
    const headers = { host: 'evil.example' }
    expect(refusal(await app.inject({ url: '/runs', headers }))).toBe('403 forbidden')
    expect((await app.inject({ url: '/runs', headers: { host: '127.0.0.1:4777' } })).statusCode).toBe(200)
    expect((await app.inject({ url: '/healthz', headers })).statusCode).toBe(200)
  })

  test('the key decides the namespace', async () => {
    const { app, faces } = testApp()
    faces.addKey('a', { namespace: 'acme', label: 'ops' })
    const headers = { authorization: 'Bearer a', 'content-type': 'application/json' }
    await app.inject({ method: 'POST', url: '/events', headers, payload: '{"name":"n"}' })
    await app.inject({ method: 'POST', url: '/runs/run_1/cancel', headers: { authorization: 'Bearer a' } })
    await app.inject({ url: '/runs', headers: { authorization: 'Bearer a' } })
    expect(faces.sent[0]?.namespace).toBe('acme')
    expect(faces.acted[0]?.actor).toEqual({ namespace: 'acme', label: 'ops' })
    expect(faces.shelf('acme').calls.length).toBe(1)
    expect(faces.shelf('default').calls.length).toBe(0)
  })

  test.each(['/healthz', '/readyz'])('%s looks at no key', async url => {
    const { app, faces } = testApp()
    faces.addKey('k', {})
    expect((await app.inject(url)).statusCode).toBe(200)
    expect((await app.inject({ url, headers: { authorization: 'Bearer wrong' } })).statusCode).toBe(200)
  })
})

describe('without any key, the Origin of a web page', () => {
  const ask = (origin: string | undefined, allowed: string[] = [], keys = ring()) =>
    outcome(() => authenticate(keys, { ...HERE, origin }, { access: 'secret' }, allowed))

  test.each([undefined, 'http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:8080'])(
    'may be %s',
    origin => expect(ask(origin)).toEqual({ namespace: 'default' }),
  )

  test.each(['https://evil.example', 'http://localhost.evil.example', 'null', '', 'localhost', 'file://'])(
    'must not be %j',
    origin => expect(ask(origin)).toBe('forbidden'),
  )

  test('may be one that ENGINE_CORS_ORIGINS lists, and any with a star', () => {
    expect(ask('https://ops.example', ['https://ops.example'])).toEqual({ namespace: 'default' })
    expect(ask('https://evil.example', ['https://ops.example'])).toBe('forbidden')
    expect(ask('https://evil.example', ['*'])).toEqual({ namespace: 'default' })
  })

  test('does not matter once there is a key', () => {
    const asked = { authorization: 'Bearer k', origin: 'https://evil.example' }
    expect(authenticate(ring(['k', {}]), asked, { access: 'read' })).toMatchObject({ label: 'k' })
  })
})
