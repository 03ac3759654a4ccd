// The settings that an engine shows: all except secret ones, in a form that an engine would read again.

import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { shownSettings } from './shown-settings.ts'

const SECRET = 'a-secret-that-nobody-may-see-1234567890'
const secrets = {
  ENGINE_STORE: `postgres://user:${SECRET}@db.internal/engine`,
  ENGINE_QUEUE: `redis://:${SECRET}@redis.internal`,
  ENGINE_LIMITER: `redis://:${SECRET}@redis.internal`,
  ENGINE_API_KEYS: JSON.stringify([{ label: 'ops', kind: 'secret', key: SECRET }]),
  ENGINE_SIGNING_KEY: SECRET,
  ENGINE_ENCRYPTION_KEY: SECRET,
}
const others = {
  ENGINE_HOST: '127.0.0.2',
  ENGINE_PORT: '4000',
  ENGINE_WEBHOOK_ALLOW: '10.1.0.0/16, Hooks.internal',
  ENGINE_WEBHOOK_ALLOW_PRIVATE: 'true',
  ENGINE_WEBHOOK_SCHEDULE: '1500,90s,1.5h',
  ENGINE_RUNNER_STALE_AFTER: '120s',
  ENGINE_INVOKE_TIMEOUT: '1h',
  ENGINE_BULK_REPLAY_LIMIT: '7',
  ENGINE_GENERATION_LIMIT: '30',
  ENGINE_CHILD_GRACE: '5m',
  ENGINE_APP_LIMIT: '3',
  ENGINE_RETENTION: 'succeeded=7d,failed=36h',
  ENGINE_DRAIN_TIMEOUT: '0.5s',
  ENGINE_CORS_ORIGINS: 'https://a.example https://b.example',
  ENGINE_LOG_LEVEL: 'warn',
  ENGINE_CONSOLE_PAYLOADS: '0',
  ENGINE_PUBLIC_URL: 'https://example.com/perdure/',
}

test.each([
  ['the defaults', {}],
  ['settings', others],
  ['one retention for every status', { ENGINE_RETENTION: '30d' }],
])('%s read again give the same configuration', (_, env) => {
  expect(readConfig(shownSettings(readConfig(env)))).toEqual(readConfig(env))
})

test('they are what a person would write', () => {
  expect(shownSettings(readConfig(others))).toMatchObject({
    ENGINE_WEBHOOK_ALLOW: '10.1.0.0/16,Hooks.internal',
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: '1500ms,90s,90m',
    ENGINE_RUNNER_STALE_AFTER: '2m',
    ENGINE_RETENTION: 'succeeded=7d,failed=36h',
    ENGINE_CONSOLE_PAYLOADS: '0',
  })
})

test('no secret is among them, nor a part of an address', () => {
  const shown = shownSettings(readConfig({ ...others, ...secrets }))
  expect(shown).toEqual(shownSettings(readConfig(others)))
  expect(JSON.stringify(shown)).not.toMatch(/secret|internal\b(?<!Hooks.internal)|user/)
})
