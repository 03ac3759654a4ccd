// Runners without a signing key: which requests they refuse, and where they do not start.

import { ConfigError } from '@perdure/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createHandler, type HandlerOptions, type HandlerRequest } from './handler.ts'
import { startRegistration } from './registration.ts'

const json = { 'content-type': 'application/json' }
const rawBody = JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })
let ran = 0
const workflows = [
  createWorkflow({ name: 'hello' }, () => {
    ran++
  }),
]
const handlerOf = (options: Partial<HandlerOptions> = {}) =>
  createHandler({ app: 'shop', workflows, signingKey: [], ...options })

async function answer(request: Partial<HandlerRequest>, handler = handlerOf()) {
  const before = ran
  const { status, body } = await handler.handle({ headers: json, rawBody, ...request })
  expect(ran - before).toBe(status === 200 ? 1 : 0)
  return { status, message: JSON.parse(body).error?.message as string | undefined }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('a request to a runner without a key', () => {
  test.each([
    [{ origin: 'https://evil.example' }, 403, 'origin'],
    [{ origin: 'null' }, 403, 'origin'],
    [{ origin: 'http://localhost:3000' }, 403, 'origin'],
    [{ 'sec-fetch-site': 'cross-site' }, 403, 'sec-fetch-site'],
    [{ 'sec-fetch-site': 'none' }, 403, 'sec-fetch-site'],
    [{ host: 'evil.example' }, 403, 'evil.example'],
    [{ host: 'localhost.evil.example:3000' }, 403, 'localhost.evil.example:3000'],
    [{ host: '127.0.0.1.evil.example' }, 403, '127.0.0.1.evil.example'],
    [{ host: '192.168.1.7:3000' }, 403, '192.168.1.7:3000'],
    [{ host: '' }, 403, 'Host ""'],
    [{ 'content-type': 'text/plain' }, 415, 'application/json, not "text/plain"'],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415, 'application/json'],
    [{ 'content-type': 'application/jsonp' }, 415, 'application/json'],
    [{ 'content-type': 'text/plain; a=application/json' }, 415, 'application/json'],
    [{ 'content-type': undefined }, 415, 'not none'],
  ])('with %o is refused with %i', async (headers, status, named) => {
    const refused = await answer({ headers: { ...json, ...headers } })
    expect(refused).toEqual({ status, message: expect.stringContaining(named) })
    if (status === 403) expect(refused.message).toContain('Set ENGINE_SIGNING_KEY')
  })

  test.each<Record<string, string>>([
    {},
    { host: 'localhost' },
    { host: 'LOCALHOST:3000' },
    { host: 'shop.localhost:3000' },
    { host: '127.0.0.1:3000' },
    { host: '[::1]:3000' },
    { 'content-type': 'Application/JSON; charset=utf-8' },
  ])('with %o is answered', async headers => {
    expect(await answer({ headers: { ...json, ...headers } })).toMatchObject({ status: 200 })
    expect(await answer({ headers: new Headers({ ...json, ...headers }) })).toMatchObject({ status: 200 })
  })

  test('is refused from another machine', async () => {
    for (const remoteAddress of ['10.1.2.3', 'fe80::1', '::ffff:10.1.2.3', '::'])
      expect(await answer({ remoteAddress })).toMatchObject({
        status: 403,
        message: expect.stringContaining(remoteAddress),
      })
    for (const remoteAddress of ['127.0.0.1', '::1', '::ffff:127.0.0.1', undefined])
      expect(await answer({ remoteAddress })).toMatchObject({ status: 200 })
  })

  test('names its host by its URL where the transport passes no Host', async () => {
    expect(await answer({ host: 'evil.example' })).toMatchObject({ status: 403 })
    expect(await answer({ host: 'localhost:3000' })).toMatchObject({ status: 200 })
  })
})

describe('a runner without a key', () => {
  test.each<[string, (options?: Partial<HandlerOptions>) => unknown]>([
    ['listens on every address', options => handlerOf(options).listensOn('0.0.0.0')],
    ['listens on every address of IPv6', options => handlerOf(options).listensOn('::')],
    ['listens on an address of the network', options => handlerOf(options).listensOn('192.168.1.7')],
    [
      'registers a url of the network',
      options => startRegistration(handlerOf(options), { url: 'http://shop:3000/invoke', framework: 'x' }).stop(),
    ],
  ])('that %s does not start unless that is allowed by name', (_, start) => {
    expect(start).toThrow(ConfigError)
    expect(start).toThrow(/no signing key.*Set ENGINE_SIGNING_KEY.*or ENGINE_ALLOW_UNSIGNED=1 \(allowUnsigned\)/)
    vi.stubEnv('ENGINE_ALLOW_UNSIGNED', '0')
    expect(start).toThrow(ConfigError)
    expect(() => start({ signingKey: 'k'.repeat(32) })).not.toThrow()
    expect(() => start({ allowUnsigned: true })).not.toThrow()
    vi.stubEnv('ENGINE_ALLOW_UNSIGNED', '1')
    expect(start).not.toThrow()
    expect(() => start({ allowUnsigned: false })).toThrow(ConfigError)
  })

  test('that did not start answers nobody, and does not register', async () => {
    const handler = handlerOf()
    expect(() => handler.listensOn('0.0.0.0')).toThrow(ConfigError)
    expect(() => handler.servedAt('http://localhost:3000/invoke')).toThrow(ConfigError)
    expect(await answer({}, handler)).toMatchObject({ status: 403, message: expect.stringContaining('0.0.0.0') })
  })

  test('may be served on loopback by any name of it', () => {
    const handler = handlerOf()
    for (const host of ['localhost', '127.0.0.1', '::1', '127.8.9.10']) handler.listensOn(host)
    for (const url of ['http://localhost:3000/invoke', 'http://[::1]:3000/', 'https://127.0.0.1/'])
      handler.servedAt(url)
  })

  test('and that may be reached from elsewhere still answers no web page and no foreign host', async () => {
    const handler = handlerOf({ allowUnsigned: true })
    const request = (headers: Record<string, string>) =>
      answer({ headers: { ...json, ...headers }, remoteAddress: '10.1.2.3' }, handler)
    // Its url is not known yet: another process may register it.
    expect(await request({ host: 'shop:3000' })).toMatchObject({ status: 200 })
    handler.servedAt('http://shop:3000/invoke')
    expect(await request({ host: 'shop:8080' })).toMatchObject({ status: 200 })
    expect(await request({ host: 'evil.example' })).toMatchObject({ status: 403 })
    expect(await request({ host: 'shop:3000', origin: 'https://evil.example' })).toMatchObject({ status: 403 })
    expect(await request({ host: 'shop:3000', 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
  })
})

test('a runner with a key goes by the signature, wherever the request comes from', async () => {
  const handler = handlerOf({ signingKey: 'k'.repeat(32) })
  handler.listensOn('0.0.0.0')
  handler.servedAt('https://shop.example/invoke')
  const headers = { origin: 'https://evil.example', host: 'evil.example', 'content-type': 'text/plain' }
  expect(await answer({ headers, remoteAddress: '10.1.2.3' }, handler)).toMatchObject({
    status: 401,
    message: expect.stringContaining('signature'),
  })
})
