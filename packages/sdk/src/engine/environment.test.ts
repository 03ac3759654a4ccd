// Environment variables of a runner: invalid ones stop its start with a one-line message.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, createClient } from '@perdure/client'
import { enginesOf, readEnvironment } from '@perdure/client/internal'
import { RUNNER_SETTINGS } from '@perdure/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect } from '../connect/index.ts'
import { createHandler } from '../runner/handler.ts'
import { serve } from '../serve/node.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'

const options = { app: 'shop', workflows: [createWorkflow({ name: 'w' }, () => 1)] }

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('an invalid setting', () => {
  test.each([
    [
      'ENGINE_SINGING_KEY',
      'x',
      'ENGINE_SINGING_KEY is not a setting of runners or of the engine; did you mean ENGINE_SIGNING_KEY?',
    ],
    ['ENGINE_FOO', '', 'ENGINE_FOO is not a setting of runners or of the engine'],
    ['ENGINE_URL', 'foo', 'ENGINE_URL is not an http or https URL: foo'],
    ['ENGINE_URL', 'ftp://engine', 'ENGINE_URL is not an http or https URL: ftp://engine'],
    ['ENGINE_SIGNING_KEY', ' , ', 'ENGINE_SIGNING_KEY contains no key'],
    ['ENGINE_SIGNING_KEY', 'x'.repeat(31), 'ENGINE_SIGNING_KEY has a key of 31 bytes: 32 or more are needed'],
    ['ENGINE_ALLOW_UNSIGNED', 'yes', 'ENGINE_ALLOW_UNSIGNED must be 1 or 0, not "yes"'],
    ['ENGINE_API_KEY', 'a\nb', 'ENGINE_API_KEY is not an API key: it contains characters that no key contains'],
    ['ENGINE_API_KEY', 'kéy', 'ENGINE_API_KEY is not an API key: it contains characters that no key contains'],
  ])('%s=%j stops the start', async (name, value, message) => {
    vi.stubEnv(name, value)
    const error = await serve({ ...options, port: 0, register: false }).catch(error => error)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ name: 'ConfigError', message })
    // The stack is one line: the message, without the place where it was thrown.
    expect(error.stack).toBe(`ConfigError: ${message}`)
    expect(() => connect(options)).toThrow(message)
    expect(() => createHandler(options)).toThrow(message)
  })

  test('stops a client that reads it', () => {
    vi.stubEnv('ENGINE_URL', 'foo')
    expect(() => createClient()).toThrow(ConfigError)
    expect(createClient({ url: 'http://engine' })).toBeDefined()
  })

  test('is a TypeError when it is an argument', () => {
    const short = { ...options, signingKey: ['k'.repeat(32), 'short'] }
    const message = 'signingKey (ENGINE_SIGNING_KEY) has a key of 5 bytes: 32 or more are needed'
    expect(() => createHandler(short)).toThrow(new TypeError(message))
    expect(() => connect(short)).toThrow(new TypeError(message))
    expect(() => enginesOf('nowhere')).toThrow(TypeError)
    expect(() => enginesOf('nowhere')).toThrow('is not an http or https URL: nowhere')
  })
})

test('settings of runners and of the engine are accepted, and variables of other programs', () => {
  for (const name of RUNNER_SETTINGS) vi.stubEnv(name, '')
  vi.stubEnv('ENGINE_PORT', '4777')
  vi.stubEnv('ENGINE', 'x')
  vi.stubEnv('MY_ENGINE_FOO', 'x')
  vi.stubEnv('ENGINE_URL', ' https://engine.example/ ')
  expect(createHandler(options).keyFingerprints).toEqual([])
  expect(enginesOf(undefined).urls).toEqual(['https://engine.example'])
})

describe('a key in a file', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'perdure-keys-')), 'key')
  const key = 'k'.repeat(32)

  test('is read without the line break at its end', () => {
    writeFileSync(file, `${key}\n`)
    for (const name of ['ENGINE_API_KEY', 'ENGINE_SIGNING_KEY'] as const) {
      vi.stubEnv(`${name}_FILE`, file)
      expect(readEnvironment(name)).toBe(key)
    }
  })

  test('that is given both ways, is empty, or cannot be read stops the start', () => {
    vi.stubEnv('ENGINE_SIGNING_KEY', key)
    vi.stubEnv('ENGINE_SIGNING_KEY_FILE', file)
    expect(() => createHandler(options)).toThrow('ENGINE_SIGNING_KEY and ENGINE_SIGNING_KEY_FILE are both set')
    vi.stubEnv('ENGINE_SIGNING_KEY', '')
    writeFileSync(file, ' \n')
    expect(() => createHandler(options)).toThrow('ENGINE_SIGNING_KEY_FILE names an empty file')
    vi.stubEnv('ENGINE_SIGNING_KEY_FILE', `${file}-none`)
    expect(() => createHandler(options)).toThrow(
      /ENGINE_SIGNING_KEY_FILE names a file that cannot be read: .* \(ENOENT\)/,
    )
  })
})
