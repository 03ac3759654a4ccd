import { describe, expect, test } from 'vitest'
import { authenticate, type KINDS } from './auth.ts'
import type { ApiKey, KeyKind } from './deps.ts'
import { Faces, refusal, testApp } from './http.testkit.ts'

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

describe('authenticate', () => {
  const keys = ring(['s', { kind: 'secret', namespace: 'acme', label: 'ops' }], ['r', { kind: 'read' }])

  test('answers the namespace and label of the key', () => {
    expect(authenticate(keys, 'Bearer s', { access: 'read' })).toEqual({ namespace: 'acme', label: 'ops' })
  })

  test.each(['Bearer s', 'bearer s', 'BEARER s', 'Bearer   s  '])('understands %j', header => {
    expect(outcome(() => authenticate(keys, header, { access: 'read' }))).toMatchObject({ label: 'ops' })
  })

  test.each([undefined, '', 'Bearer', 'Bearer ', 's', 'Basic s', 'Bearer x', 'Bearer s x', 'Token s'])(
    'takes no %j',
    header => {
      expect(outcome(() => authenticate(keys, header, { access: 'read' }))).toBe('unauthorized')
    },
  )

  test('without any key everyone acts in default, but a key that is given must be right', () => {
    expect(authenticate(ring(), undefined, { access: 'secret' })).toEqual({ namespace: 'default' })
    expect(outcome(() => authenticate(ring(), 'Bearer s', { access: 'read' }))).toBe('unauthorized')
    expect(outcome(() => authenticate(ring(), 'Basic dTpw', { access: 'read' }))).toBe('unauthorized')
  })

  test.each<[string, keyof typeof KINDS, string]>([
    ['readers', 'read', 'secret read'],
    ['event senders', 'event', 'secret event'],
    ['runners', 'runner', 'secret runner'],
    ['controllers', 'secret', 'secret'],
  ])('%s', (_, access, expected) => {
    const all: KeyKind[] = ['secret', 'read', 'event', 'runner']
    const admitted = all.filter(kind => {
      const result = outcome(() => authenticate(ring(['k', { kind }]), 'Bearer k', { access }))
      expect(result === 'forbidden' || typeof result === 'object').toBe(true)
      return result !== 'forbidden'
    })
    expect(admitted.join(' ')).toBe(expected)
  })
})

/** Every route, with the kinds of key that open it besides a secret one. */
const ROUTES: ['GET' | 'POST', string, KeyKind[]][] = [
  ['GET', '/runs', ['read']],
  ['GET', '/runs/run_1', ['read']],
  ['GET', '/runs/run_1/steps', ['read']],
  ['GET', '/runs/run_1/logs', ['read']],
  ['GET', '/runs/run_1/stream', ['read']],
  ['GET', '/events', ['read']],
  ['GET', '/events/evt_1', ['read']],
  ['GET', '/apps', ['read']],
  ['GET', '/runners', ['read']],
  ['GET', '/workflows', ['read']],
  ['POST', '/events', ['event']],
  ['POST', '/register', ['runner']],
  ['POST', '/runs/run_1/cancel', []],
  ['POST', '/runs/run_1/pause', []],
  ['POST', '/runs/run_1/resume', []],
  ['POST', '/runs/run_1/replay', []],
  ['POST', '/runs/run_1/retry-from-step', []],
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

  test('every route but the probes is in the list above', async () => {
    const { app } = testApp()
    await app.ready()
    const routes = app.printRoutes({ commonPrefix: false, includeHooks: false })
    const listed = ROUTES.map(([, url]) => url.replace(/(run|evt)_1/, ':id'))
    const known = new Set([...listed, '/healthz', '/readyz'])
    expect(routes.match(/\((GET|POST)[^)]*\)/g)?.length).toBe(known.size)
    for (const url of known)
      expect(app.hasRoute({ url, method: 'GET' }) || app.hasRoute({ url, method: 'POST' }))
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
