// The start of an engine: which configurations it refuses in one line, and what it prints.

import { ConfigError, openAdministration, readConfig } from '@perdure/engine'
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
/** The setting `ENGINE_API_KEYS` with one key. */
const key = (change: Record<string, unknown> = {}) =>
  JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: LONG_KEY, ...change }])

/** An address without a listener. */
const NOWHERE = 'redis://127.0.0.1:1'

/** Refused settings, and what the error message names. */
const REFUSED_SETTINGS: [what: string, env: Record<string, string>, names: string][] = [
  ['a port out of range', { ENGINE_PORT: '70000' }, 'ENGINE_PORT (--port)'],
  ['a store of another kind', { ENGINE_STORE: 'mysql://x' }, 'ENGINE_STORE (--store)'],
  ['an unreadable duration', { ENGINE_DRAIN_TIMEOUT: 'soon' }, 'ENGINE_DRAIN_TIMEOUT (--drain-timeout)'],
  ['an unreadable schedule', { ENGINE_WEBHOOK_SCHEDULE: '5s,later' }, 'ENGINE_WEBHOOK_SCHEDULE'],
  ['an unreadable retention', { ENGINE_RETENTION: 'waiting=3d' }, 'ENGINE_RETENTION (--retention)'],
  ['an origin with a path', { ENGINE_CORS_ORIGINS: 'https://a.example/x' }, 'ENGINE_CORS_ORIGINS'],
  ['a limit out of range', { ENGINE_BULK_REPLAY_LIMIT: '0' }, 'ENGINE_BULK_REPLAY_LIMIT'],
  ['an unknown log level', { ENGINE_LOG_LEVEL: 'loud' }, 'ENGINE_LOG_LEVEL'],
  ['a namespace that is too long', { ENGINE_API_KEYS: key({ namespace: 'n'.repeat(129) }) }, 'ENGINE_API_KEYS'],
  ['a key of an unknown kind', { ENGINE_API_KEYS: key({ kind: 'master' }) }, 'ENGINE_API_KEYS'],
  ['a signing key that is too short', { ENGINE_SIGNING_KEY: 's'.repeat(31) }, 'ENGINE_SIGNING_KEY'],
  ['an encryption key that is too short', { ENGINE_ENCRYPTION_KEY: 'e'.repeat(31) }, 'ENGINE_ENCRYPTION_KEY'],
  ['an API key that is too short', { ENGINE_API_KEYS: key({ key: 'k'.repeat(15) }) }, 'ENGINE_API_KEYS'],
  ['a signing key that is left out', { ENGINE_SIGNING_KEY: ',' }, 'ENGINE_SIGNING_KEY'],
]

/** Refused starts: one for each part of the start that can refuse it. */
const REFUSED_STARTS: [what: string, options: ProcessOptions, names: string][] = [
  ['an ENGINE_* name nobody knows', { env: { ENGINE_COLOUR: 'red' } }, 'ENGINE_COLOUR'],
  ['an unreadable flag', { args: ['--port', 'http'] }, 'ENGINE_PORT (--port)'],
  ['keys that are no JSON', { env: { ENGINE_API_KEYS: LONG_KEY } }, 'ENGINE_API_KEYS'],
  ['a limiter that is not there', { env: { ENGINE_LIMITER: NOWHERE } }, `the limiter at ${NOWHERE}`],
  ['a queue that is not there', { env: { ENGINE_QUEUE: NOWHERE } }, `the queue at ${NOWHERE}`],
]

describe('a configuration that cannot be used', () => {
  test.each(REFUSED_SETTINGS)('%s is refused in one line that names the setting', (_, env, names) => {
    const message = refusalOf(env)
    expect(message).toMatch(/^[^\n]+$/)
    expect(message).toContain(names)
    expect(message).not.toContain(LONG_KEY)
  })

  test('stops the start with that line and exit code 2', async () => {
    const exits = await Promise.all(REFUSED_STARTS.map(([, options]) => serveToTheEnd(options)))
    for (const [i, [what, , names]] of REFUSED_STARTS.entries()) {
      const exit = exits[i] as Exit
      expect(exit, what).toMatchObject({ code: 2, stdout: '' })
      expect(exit.stderr, what).toMatch(/^perdure: [^\n]+\n$/)
      expect(exit.stderr, what).toContain(names)
      expect(exit.stderr, what).not.toContain(LONG_KEY)
    }
  })

  function refusalOf(env: Record<string, string>): string {
    try {
      readConfig(env)
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError)
      return (error as ConfigError).message
    }
    throw new Error('the configuration was accepted')
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

  test('a key of the store lets it bind any address; the banner says how it is protected', async () => {
    const engine = await startEngine()
    const { storeFile } = engine
    const { administration, close } = await openAdministration(`sqlite:${storeFile}`)
    onCleanup(close)
    const { key, stored } = await administration.createKey({ kind: 'secret' })
    const status = async (api: Api) => (await api.get('/runs')).status
    await until(async () => (await status(engine.api)) === 401, {
      what: 'requests without a key being refused',
    })
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
    expect(refused.stderr).toMatch(/^perdure: [^\n]*perdure keys create[^\n]*\n$/)
  })

  test('a port or a file that another engine has ends it with one line', async () => {
    const { url, storeFile } = await startEngine()
    const [taken, second] = await Promise.all([
      serveToTheEnd({ args: ['--port', new URL(url).port] }),
      serveToTheEnd({ storeFile }),
    ])
    expect(taken).toMatchObject({ code: 2, stdout: '' })
    expect(taken.stderr).toMatch(
      /^perdure: port \d+ of 127\.0\.0\.1 is taken \(EADDRINUSE\)[^\n]* --port or ENGINE_PORT\n$/,
    )
    expect(second.code).toBe(2)
    expect(second.stderr).toMatch(/^perdure: [^\n]*another engine[^\n]*\n$/)
  })
})
