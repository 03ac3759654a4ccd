// The admin commands on real stores: keys, namespaces, and their errors.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAdministration } from '@perdure/engine'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ran } from '../ran.testkit.ts'

interface Outcome {
  code: number
  out: string
  err: string
}

let directory: string
let store: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-cli-'))
  store = `sqlite:${join(directory, 'engine.db')}`
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

/** One command line on the test's store. */
async function perdure(...args: string[]): Promise<Outcome> {
  const { code, stdout: out, stderr: err } = await ran([...args, '--store', store])
  return { code, out, err }
}

async function created(...args: string[]): Promise<Record<string, string>> {
  const { code, out } = await perdure('keys', 'create', '--json', ...args)
  expect(code).toBe(0)
  return JSON.parse(out)
}

const listed = async (noun: string) =>
  (await perdure(noun, 'list', '--json')).out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

describe('perdure keys', () => {
  test('create makes a key and shows it once', async () => {
    const key = await created('--kind', 'event', '--label', 'shop', '--namespace', 'acme')
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Z]{26}$/),
      kind: 'event',
      namespace: 'acme',
      label: 'shop',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      key: expect.stringMatching(/^pdk_event_[\w-]{43}$/),
    })
    const { key: secret, ...rest } = key
    expect(await listed('keys')).toEqual([rest])
    expect((await perdure('keys', 'list')).out).not.toContain(secret)
    for (const file of readdirSync(directory))
      expect(readFileSync(join(directory, file)).includes(secret as string), file).toBe(false)
  })

  test('create prints the key for people too, and list shows a table, oldest first', async () => {
    const { out } = await perdure('keys', 'create', '--kind', 'read')
    expect(out).toMatch(/^pdk_read_[\w-]{43}\n/)
    expect(out).toMatch(/A read key of namespace default, label (key_\w+), id \1\./)
    const first = await created('--kind', 'secret', '--label', 'ops')
    const second = await created('--kind', 'runner', '--label', 'workers', '--expires', '90d')
    const lines = (await perdure('keys', 'list')).out.split('\n')
    expect(lines[0]).toMatch(/^ID +KIND +NAMESPACE +LABEL +CREATED +REVOKED +EXPIRES$/)
    expect(lines[2]).toMatch(new RegExp(`^${first.id} +secret +default +ops +20\\S+ +- +-$`))
    expect(lines[3]).toMatch(new RegExp(`^${second.id} +runner +default +workers +20\\S+ +- +20\\S+$`))
  })

  test('--expires takes a duration or a time to come', async () => {
    const { expiresAt } = await created('--kind', 'read', '--expires', '2099-06-01T00:00:00Z')
    expect(expiresAt).toBe('2099-06-01T00:00:00.000Z')
    expect((await perdure('keys', 'create', '--kind', 'read', '--expires', 'soon')).err).toContain(
      'It must be like 12h',
    )
    const past = await perdure('keys', 'create', '--kind', 'read', '--expires', '2001-01-01T00:00:00Z')
    expect(past).toMatchObject({ code: 1, err: expect.stringContaining('expiresAt must be in the future') })
  })

  test('revoke marks the key, also twice; it refuses other ids, and does not repeat a key that it is given', async () => {
    const { id, key } = await created('--kind', 'secret')
    expect(await perdure('keys', 'revoke', id as string)).toMatchObject({ code: 0, err: '' })
    const [{ revokedAt }] = await listed('keys')
    expect(revokedAt).toMatch(/Z$/)
    await perdure('keys', 'revoke', id as string)
    expect(await listed('keys')).toMatchObject([{ revokedAt }])

    const unknown = await perdure('keys', 'revoke', `key_${'0'.repeat(26)}`)
    expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/^perdure: there is no API key key_0+\n$/) })
    const { code, out, err } = await perdure('keys', 'revoke', key as string)
    expect(code).toBe(1)
    expect(err).toContain('must be the id of an API key')
    expect(out + err).not.toContain(key)
    const stray = await perdure('keys', 'create', '--kind', key as string)
    expect(stray.code).toBe(2)
    expect(stray.err).not.toContain(key)
  })

  test.each([
    [['create'], 2, '--kind'],
    [['create', '--kind', 'master'], 2, 'secret, read, event, runner'],
    [['create', '--kind', 'read', '--label', ' '], 1, 'label must not be blank'],
    [['create', '--kind', 'read', '--namespace', 'n'.repeat(129)], 1, 'namespace must not be longer than 128'],
    [['create', '--kind', 'read', '--label', 'a\nb'], 1, 'label must not have control characters'],
    [['revoke'], 2, 'id'],
    [['remove'], 2, 'remove'],
  ])('%j is refused with exit code %i', async (args, exitCode, names) => {
    const { code, out, err } = await perdure('keys', ...args)
    expect(code).toBe(exitCode)
    expect(out).toBe('')
    expect(err).toContain(names)
  })
})

describe('perdure namespaces', () => {
  test('are those of the keys; suspend and resume mark them, and refuse one that is not there', async () => {
    await created('--kind', 'secret', '--namespace', 'acme')
    await created('--kind', 'secret')
    expect(await perdure('namespaces', 'suspend', 'acme')).toEqual({
      code: 0,
      out: 'suspended acme\n',
      err: '',
    })
    const [acme, fallback] = await listed('namespaces')
    expect(acme).toMatchObject({ name: 'acme', suspendedAt: expect.any(String) })
    expect(fallback).toEqual({ name: 'default', createdAt: expect.any(String) })
    expect((await perdure('namespaces', 'list')).out).toMatch(/^NAME +CREATED +SUSPENDED\nacme +20\S+ +20\S+\n/)
    expect((await perdure('namespaces', 'resume', 'acme')).code).toBe(0)
    expect((await listed('namespaces'))[0]).not.toHaveProperty('suspendedAt')
    // A typo must not pass for done.
    for (const verb of ['suspend', 'resume'])
      expect(await perdure('namespaces', verb, 'acmee')).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^perdure: there is no namespace acmee[^\n]*\n$/),
      })
  })
})

test('the error for an unreachable database does not contain its password', async () => {
  store = 'postgres://user:hidden@127.0.0.1:9/db'
  const { code, err } = await perdure('keys', 'list')
  expect(code).toBe(1)
  expect(err).toMatch(/^perdure: cannot open postgres:\/\/user:\*\*\*@127\.0\.0\.1:9\/db: [^\n]+\n$/)
})

test.each(['mysql://user:hidden@host/db', 'engine.db', 'sqlite::memory:'])(
  'the store %s is refused with exit code 2',
  async name => {
    store = name
    const { code, err } = await perdure('keys', 'list')
    expect(code).toBe(2)
    expect(err).toMatch(/^perdure: ENGINE_STORE \(--store\) [^\n]+\n$/)
    expect(err).not.toContain('hidden')
  },
)

test('an empty list prints a note to stderr, and nothing to stdout', async () => {
  await (await openAdministration(store, { create: true })).close()
  const { code, out, err } = await perdure('keys', 'list')
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(err).toContain('perdure keys create')
  expect(await perdure('keys', 'list', '--json')).toEqual({ code: 0, out: '', err: '' })
})

test('only `keys create` creates a store: other commands report a missing one', async () => {
  for (const args of [
    ['keys', 'list'],
    ['keys', 'revoke', `key_${'0'.repeat(26)}`],
    ['namespaces', 'suspend', 'default'],
  ]) {
    const { code, err } = await perdure(...args)
    expect(code).toBe(2)
    expect(err).toMatch(/^perdure: ENGINE_STORE \(--store\) names no store: [^\n]+engine\.db\n$/)
  }
  expect(readdirSync(directory)).toEqual([])
  await created('--kind', 'read')
  expect((await perdure('keys', 'list')).code).toBe(0)
})

test.each([
  [['--from', 'sqlite:./none.db', '--to', 'sqlite:./new.db'], '--from sqlite:./none.db: there is no file'],
  [['--from', 'mysql://x', '--to', 'sqlite:./new.db'], '--from must look like'],
  [['--from', 'sqlite:./a.db', '--to', 'sqlite:./a.db'], 'the same store'],
  [['--from', 'sqlite:./a.db'], '--to'],
])('perdure move %j is bad usage', async (args, message) => {
  const { code, stderr } = await ran(['move', ...args])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})
