// Starting: what stops it with one clear line, and what it prints (decisions "Configuration", "Errors, limits, auth").

import { openAdministration } from '@perdure/engine'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  type Exit,
  onCleanup,
  type ProcessOptions,
  serveToTheEnd,
  startEngine,
  until,
} from '../../kit/index.ts'

const LONG_KEY = 'a-secret-key-that-must-not-be-printed'
const key = (change: Record<string, unknown> = {}) =>
  JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: LONG_KEY, ...change }])

/** Nothing listens there. */
const NOWHERE = 'redis://127.0.0.1:1'

const REFUSED: [string, ProcessOptions, string][] = [
  ['an ENGINE_* name nobody knows', { env: { ENGINE_COLOUR: 'red' } }, 'ENGINE_COLOUR'],
  ['an unreadable port', { args: ['--port', 'http'] }, 'ENGINE_PORT'],
  ['a port out of range', { args: ['--port', '70000'] }, 'ENGINE_PORT'],
  ['a store of another kind', { args: ['--store', 'mysql://x'] }, 'ENGINE_STORE'],
  ['an unreadable duration', { env: { ENGINE_DRAIN_TIMEOUT: 'soon' } }, 'ENGINE_DRAIN_TIMEOUT'],
  ['an unreadable schedule', { env: { ENGINE_WEBHOOK_SCHEDULE: '5s,later' } }, 'ENGINE_WEBHOOK_SCHEDULE'],
  ['an origin with a path', { env: { ENGINE_CORS_ORIGINS: 'https://a.example/x' } }, 'ENGINE_CORS_ORIGINS'],
  ['a limit out of range', { env: { ENGINE_BULK_REPLAY_LIMIT: '0' } }, 'ENGINE_BULK_REPLAY_LIMIT'],
  ['an unknown log level', { env: { ENGINE_LOG_LEVEL: 'loud' } }, 'ENGINE_LOG_LEVEL'],
  ['keys that are no JSON', { env: { ENGINE_API_KEYS: LONG_KEY } }, 'ENGINE_API_KEYS'],
  [
    'a namespace that is too long',
    { env: { ENGINE_API_KEYS: key({ namespace: 'n'.repeat(129) }) } },
    'ENGINE_API_KEYS',
  ],
  ['a key of an unknown kind', { env: { ENGINE_API_KEYS: key({ kind: 'master' }) } }, 'ENGINE_API_KEYS'],
  ['a signing key that is left out', { env: { ENGINE_SIGNING_KEY: ',' } }, 'ENGINE_SIGNING_KEY'],
  ['a limiter that is not there', { env: { ENGINE_LIMITER: NOWHERE } }, `the limiter at ${NOWHERE}`],
  ['a queue that is not there', { env: { ENGINE_QUEUE: NOWHERE } }, `the queue at ${NOWHERE}`],
  ['a flag nobody knows', { args: ['--colour', 'red'] }, '--colour'],
  ['a flag without a value', { args: ['--drain-timeout'] }, '--drain-timeout'],
  ['a non-loopback address without keys', { args: ['--host', '0.0.0.0'] }, 'perdure keys create'],
]

describe('a configuration that cannot be used', () => {
  test('stops the start with one line that names the setting, and exit code 2', async () => {
    for (const group of chunks(REFUSED, 3)) {
      const exits = await Promise.all(group.map(([, options]) => serveToTheEnd(options)))
      for (const [i, [what, , names]] of group.entries()) {
        const exit = exits[i] as Exit
        expect(exit, what).toMatchObject({ code: 2, stdout: '' })
        expect(exit.stderr, what).toMatch(/^perdure: [^\n]+\n$/)
        expect(exit.stderr, what).toContain(names)
        expect(exit.stderr, what).not.toContain(LONG_KEY)
      }
    }
  })

  function chunks<T>(list: readonly T[], size: number): T[][] {
    return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
      list.slice(i * size, (i + 1) * size),
    )
  }
})

describe('a start', () => {
  test('with keys any address may be bound; flags win over the environment', async () => {
    const engine = await startEngine({
      args: ['--host', '0.0.0.0', '--drain-timeout', '2s'],
      env: { ENGINE_API_KEYS: key(), ENGINE_HOST: '127.0.0.1', ENGINE_DRAIN_TIMEOUT: '9s' },
    })
    expect(engine.url).toMatch(/^http:\/\/0\.0\.0\.0:/)
    expect((await engine.api.get('/runs')).status).toBe(401)
    expect((await engine.api.as(LONG_KEY).get('/runs')).status).toBe(200)
    const { code, stdout } = await engine.sigterm()
    expect(code).toBe(0)
    expect(stdout).not.toContain(LONG_KEY)
  })

  test('a key of the store lets it bind any address; the banner says how people get in', async () => {
    const engine = await startEngine()
    const { storeFile } = engine
    const { administration, close } = await openAdministration(`sqlite:${storeFile}`)
    onCleanup(close)
    const { key, stored } = await administration.createKey({ kind: 'secret' })
    const status = async (api: Api) => (await api.get('/runs')).status
    await until(async () => (await status(engine.api)) === 401, { what: 'the engine closing' })
    expect(await status(engine.api.as(key))).toBe(200)
    const first = await engine.sigterm()
    expect(first.stdout).toContain('auth   open')

    const anywhere = await startEngine({ storeFile, args: ['--host', '0.0.0.0'] })
    expect(await status(anywhere.api.as(key))).toBe(200)
    await administration.revokeKey(stored.id)
    await until(async () => (await status(anywhere.api.as(key))) === 401, { what: 'the key being refused' })
    expect(await status(anywhere.api)).toBe(401)
    const second = await anywhere.sigterm()
    expect(second.stdout).toContain('auth   1 API key\n')
    for (const { stdout, stderr } of [first, second]) expect(stdout + stderr).not.toContain(key)

    const refused = await serveToTheEnd({ storeFile, args: ['--host', '0.0.0.0'] })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
  })

  test('a port that is taken ends it with one line', async () => {
    const { url } = await startEngine()
    const exit = await serveToTheEnd({ args: ['--port', new URL(url).port] })
    expect(exit.code).toBe(2)
    expect(exit.stderr).toMatch(/^perdure: [^\n]*EADDRINUSE[^\n]*\n$/)
  })

  test('a second engine on the same file is refused', async () => {
    const { storeFile } = await startEngine()
    const second = await serveToTheEnd({ storeFile })
    expect(second.code).toBe(2)
    expect(second.stderr).toMatch(/^perdure: [^\n]*another engine[^\n]*\n$/)
  })
})
