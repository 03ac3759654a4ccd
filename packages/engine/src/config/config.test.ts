import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, storeName, storeOfEnvironment } from './config.ts'

describe('keys of the configuration', () => {
  const SECRET = 'a-key-that-nobody-may-see'
  const entry = { label: 'ops', namespace: 'default', kind: 'secret', key: SECRET }
  const read = (...entries: object[]) => readConfig({ ENGINE_API_KEYS: JSON.stringify(entries) })

  test('are as they were given, whatever characters a key has inside', () => {
    const other = { label: 'l'.repeat(128), namespace: 'acme', kind: 'read', key: '~with, blanks "inside"' }
    expect(read(entry, other).apiKeys).toEqual([entry, other])
  })

  test.each([
    [
      'twice the same key',
      [entry, { ...entry, label: 'b' }, { ...entry, namespace: 'acme', kind: 'read' }],
      /entry 1 .*entry 0/,
    ],
    ['a key with a space behind it', [{ ...entry, key: `${SECRET} ` }], /entry 0 .*visible ASCII/],
    ['a key with a line break', [entry, { ...entry, key: `${SECRET}\n` }], /entry 1 .*visible ASCII/],
    ['a key of other letters', [{ ...entry, key: `${SECRET}é` }], /entry 0 .*visible ASCII/],
    ['a label that is too long', [{ ...entry, label: 'l'.repeat(129) }], /entry 0 .*label .*128/],
    ['a label with a NUL', [{ ...entry, label: 'a\u0000' }], /entry 0 .*label .*control/],
    ['a blank label', [{ ...entry, label: ' ' }], /entry 0 .*label .*blank/],
    ['a key that is too short', [entry, { ...entry, key: 'fifteen-letters' }], /entry 1 needs a key of 16 characters/],
    ['no label', [{ ...entry, label: undefined }], /entry 0 .*label/],
  ])('%s is refused in one line that shows no key', (_, entries, problem) => {
    expect(() => read(...entries)).toThrow(problem)
    expect(() => read(...entries)).toThrow(/^ENGINE_API_KEYS \(--api-keys\) [^\n]+$/)
    expect(() => read(...entries)).not.toThrow(SECRET)
  })
})

const [K1, K2] = ['k1'.repeat(16), 'k2'.repeat(16)] as const

describe.each(['ENGINE_SIGNING_KEY', 'ENGINE_ENCRYPTION_KEY'])('%s', setting => {
  const read = (value: string) => {
    const { signingKeys, encryptionKeys } = readConfig({ [setting]: value })
    return [...signingKeys, ...encryptionKeys]
  }

  test.each([
    ['', []],
    [K1, [K1]],
    [`${K1},${K2}`, [K1, K2]],
    [` ${K1} , ${K2}\n`, [K1, K2]],
    [`${K1} ${K2}`, [K1, K2]],
    ['é'.repeat(16), ['é'.repeat(16)]],
  ])('%j is %j', (value, keys) => {
    expect(read(value)).toEqual(keys)
  })

  test.each([',', ' ', '\n', 'k1,,k2', 'k1,', ',k1', 'k1, ,k2'])('%j is refused: a key is missing', value => {
    expect(() => read(value)).toThrow(new RegExp(`^${setting} \\(--[a-z-]+\\) [^\n]+$`))
    expect(() => read(value)).not.toThrow(/k[12]/)
  })

  test.each([
    ['short', 5],
    ['x'.repeat(31), 31],
    [`${K1},x`, 1],
    ['é'.repeat(15), 30],
  ])('%j is refused: a key has too few bytes', (value, bytes) => {
    expect(() => read(value)).toThrow(`has a key of ${bytes} bytes: 32 or more are needed`)
    expect(() => read(value)).toThrow(new RegExp(`^${setting} \\(--[a-z-]+\\) [^\n]+$`))
    expect(() => read(value)).not.toThrow(value)
  })
})

test.each(['0', '0s', '0.0001ms'])('a time of %s is refused because it is 0', value => {
  for (const setting of ['ENGINE_DRAIN_TIMEOUT', 'ENGINE_RUNNER_STALE_AFTER', 'ENGINE_INVOKE_TIMEOUT'])
    expect(() => readConfig({ [setting]: value })).toThrow(/ must be more than 0, not "/)
})

describe('the backends of an engine', () => {
  test('are by default a file and this process', () => {
    const { store, queue, limiter } = readConfig({})
    expect(store).toEqual({ kind: 'sqlite', file: './.perdure/engine.db' })
    expect({ queue, limiter }).toEqual({ queue: undefined, limiter: { kind: 'memory' } })
  })

  test('may be PostgreSQL and Redis, named without their passwords', () => {
    const url = 'postgres://ann:s3cret@db.example/app?sslmode=require'
    const { store, queue, limiter } = readConfig({
      ENGINE_STORE: url,
      ENGINE_QUEUE: 'memory',
      ENGINE_LIMITER: 'rediss://:s3cret@redis.example:6380',
    })
    expect(store).toEqual({ kind: 'postgres', url })
    expect(storeName(store)).toBe('postgres://ann:***@db.example/app?sslmode=require')
    expect(queue).toEqual({ kind: 'memory' })
    expect(limiter).toEqual({ kind: 'redis', url: 'rediss://:s3cret@redis.example:6380' })
  })

  test.each([
    ['ENGINE_STORE', 'mysql://ann:s3cret@db/app'],
    ['ENGINE_STORE', 'postgres://ann:s3cret@[db/app'],
    ['ENGINE_QUEUE', 'postgres://ann:s3cret@db/app'],
    ['ENGINE_LIMITER', 'redis:s3cret'],
  ])('%s refuses %s in one line without a password', (setting, value) => {
    const read = () => readConfig({ [setting]: value })
    expect(read).toThrow(new RegExp(`^${setting} \\(--[a-z]+\\) must [^\n]+$`))
    expect(read).not.toThrow(/s3cret/)
  })
})

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-secrets-'))
  const fileOf = (text: string) => {
    const file = join(folder, `${Math.random()}`)
    writeFileSync(file, text)
    return file
  }
  const KEY = 'k'.repeat(32)

  test.each([
    [
      'ENGINE_STORE',
      'postgres://ann:s3cret@db/app',
      { store: { kind: 'postgres', url: 'postgres://ann:s3cret@db/app' } },
    ],
    ['ENGINE_QUEUE', 'redis://:s3cret@redis', { queue: { kind: 'redis', url: 'redis://:s3cret@redis' } }],
    ['ENGINE_LIMITER', 'redis://:s3cret@redis', { limiter: { kind: 'redis', url: 'redis://:s3cret@redis' } }],
    ['ENGINE_SIGNING_KEY', KEY, { signingKeys: [KEY] }],
    ['ENGINE_ENCRYPTION_KEY', KEY, { encryptionKeys: [KEY] }],
    [
      'ENGINE_API_KEYS',
      `[{"label":"ops","kind":"secret","key":"${KEY}"}]`,
      { apiKeys: [{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }] },
    ],
  ])('%s_FILE has the value, without the line break at its end', (setting, text, config) => {
    for (const end of ['', '\n', '\r\n']) {
      const file = fileOf(text + end)
      expect(readConfig({ [`${setting}_FILE`]: file })).toMatchObject(config)
      const flag = setting.replace('ENGINE_', '').toLowerCase().replaceAll('_', '-')
      expect(readConfig({ [setting]: 'of the environment' }, { [`${flag}-file`]: file })).toMatchObject(config)
    }
  })

  test('counts for the commands on a store', () => {
    expect(storeOfEnvironment({ ENGINE_STORE_FILE: fileOf('sqlite:./a.db\n') })).toBe('sqlite:./a.db')
    expect(storeOfEnvironment({})).toBeUndefined()
  })

  test.each([
    ['both ways', () => ({ ENGINE_SIGNING_KEY: KEY, ENGINE_SIGNING_KEY_FILE: fileOf(KEY) }), /are both set/],
    ['missing', () => ({ ENGINE_SIGNING_KEY_FILE: join(folder, 'none') }), /cannot be read: .* \(ENOENT\)/],
    ['a folder', () => ({ ENGINE_SIGNING_KEY_FILE: folder }), /cannot be read: .* \(EISDIR\)/],
    ['empty', () => ({ ENGINE_SIGNING_KEY_FILE: fileOf('\n') }), /names an empty file/],
    ['too large', () => ({ ENGINE_SIGNING_KEY_FILE: fileOf(KEY.repeat(2049)) }), /more than 64 KiB/],
    ['endless', () => ({ ENGINE_SIGNING_KEY_FILE: '/dev/zero' }), /more than 64 KiB/],
    ['of no secret', () => ({ ENGINE_PORT_FILE: fileOf('1') }), /ENGINE_PORT_FILE is not a setting/],
  ])('is refused in one line without the secret: %s', (_, env, problem) => {
    expect(() => readConfig(env())).toThrow(problem)
    expect(() => readConfig(env())).toThrow(/^ENGINE_[^\n]+$/)
    expect(() => readConfig(env())).not.toThrow(KEY)
  })
})
