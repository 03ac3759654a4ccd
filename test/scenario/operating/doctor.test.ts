// `perdure doctor` reports each check with its verdict, and never shows a secret.

import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'
import { type Finding, openAdministration } from '@perdure/engine'
import { expect, test } from 'vitest'
import { findings, verdictOf } from '../../kit/engine/findings.ts'
import { openSpans } from '../../kit/engine/spans.ts'
import { flow, onCleanup, openEngine, perdure, run, tempStoreFile, unique } from '../../kit/index.ts'

const fresh = () => ({ ENGINE_STORE: `sqlite:${tempStoreFile()}` })
const GOOD = 'k'.repeat(32)

test('a sound SQLite configuration has no errors, and the examination creates nothing', async () => {
  const file = tempStoreFile()
  const found = await findings({
    ENGINE_STORE: `sqlite:${dirname(file)}/deeper/engine.db`,
    ENGINE_SIGNING_KEY: GOOD,
  })
  expect([...found.values()].filter(({ verdict }) => verdict === 'error')).toEqual([])
  for (const check of ['node', 'configuration', 'store', 'store.fsync', 'store.filesystem', 'signing', 'port'])
    expect(found.has(check), check).toBe(true)
  expect(found.get('keys')).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('no API key'),
  })
  expect(existsSync(`${dirname(file)}/deeper`)).toBe(false)
})

test('invalid settings are reported as the engine reports them, and nothing else is', async () => {
  const found = await findings({ ENGINE_RETENTION: 'soon' })
  expect(found.get('configuration')).toMatchObject({
    verdict: 'error',
    message: expect.stringContaining('ENGINE_RETENTION'),
  })
  expect(found.has('store')).toBe(false)
})

test('an SDK for traces is reported, and one that the engine cannot see is a warning', async () => {
  expect((await findings(fresh())).has('tracing')).toBe(false)
  const { close } = openSpans()
  expect(verdictOf(await findings(fresh()), 'tracing')).toBe('ok')
  close()
  // A tracing SDK registers itself here through a copy of the API that is older than the engine's.
  const globals = globalThis as Record<symbol, unknown>
  const key = Symbol.for('opentelemetry.js.api.1')
  const before = globals[key]
  onCleanup(() => {
    globals[key] = before
  })
  globals[key] = { version: '1.2.0', trace: {} }
  expect((await findings(fresh())).get('tracing')).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('that the engine cannot see: it uses version 1.2.0 of @opentelemetry/api'),
  })
  globals[key] = before
})

test('keys: too short, shared with runners, or missing on a public address', async () => {
  const short = await findings({ ...fresh(), ENGINE_SIGNING_KEY: 'short-secret' })
  expect(short.get('configuration')).toMatchObject({
    verdict: 'error',
    message: expect.stringMatching(/^ENGINE_SIGNING_KEY .*12 bytes: 32 or more/),
  })
  const shared = await findings({ ...fresh(), ENGINE_SIGNING_KEY: GOOD, ENGINE_ENCRYPTION_KEY: GOOD })
  expect(verdictOf(shared, 'encryption')).toBe('error')
  const open = await findings({ ...fresh(), ENGINE_HOST: '0.0.0.0' })
  expect(verdictOf(open, 'keys')).toBe('error')
  const store = `sqlite:${tempStoreFile()}`
  const { administration, close } = await openAdministration(store, { create: true })
  await administration.createKey({ kind: 'secret' }).finally(close)
  const closed = await findings({ ENGINE_STORE: store, ENGINE_HOST: '0.0.0.0' })
  expect(closed.get('keys')).toEqual({ check: 'keys', verdict: 'ok', message: '1 API key' })
  for (const each of [...short.values(), ...shared.values()]) {
    expect(each.message).not.toContain('short-secret')
    expect(each.message).not.toContain(GOOD)
  }
})

test('a store that is no database, or cannot be written to, is an error', async () => {
  const file = tempStoreFile()
  writeFileSync(file, 'x'.repeat(9000))
  expect(verdictOf(await findings({ ENGINE_STORE: `sqlite:${file}` }), 'store')).toBe('error')
  expect(verdictOf(await findings({ ENGINE_STORE: 'sqlite:/proc/engine.db' }), 'store.fsync')).toBe('error')
})

test('a port that another program has is an error, a port that an engine has is not', async () => {
  const stranger = createServer((_, response) => response.end('hello'))
  onCleanup(() => stranger.close())
  await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
  const { port } = stranger.address() as { port: number }
  expect(verdictOf(await findings({ ...fresh(), ENGINE_PORT: String(port) }), 'port')).toBe('error')
  const engine = await openEngine()
  const taken = await findings({ ...fresh(), ENGINE_PORT: new URL(engine.url).port })
  expect(taken.get('port')).toMatchObject({
    verdict: 'ok',
    message: expect.stringContaining('an engine already listens'),
  })
})

test('an engine at ENGINE_URL is reported with its readiness and its runners; a missing engine is a warning', async () => {
  const engine = await openEngine()
  const env = { ...fresh(), ENGINE_URL: engine.url }
  const idle = await findings(env)
  expect(idle.get('engine')).toMatchObject({ verdict: 'ok', message: expect.stringContaining('store ok') })
  expect(idle.get('runners')).toMatchObject({ verdict: 'warning', message: '0 of 0 runners are live' })
  await engine.runner({ workflows: { [unique('one')]: flow([run('one')]) } })
  expect((await findings(env)).get('runners')).toMatchObject({
    verdict: 'ok',
    message: '1 of 1 runners are live',
  })
  const gone = await findings({ ...fresh(), ENGINE_URL: 'http://ada:hidden-word@127.0.0.1:1' })
  expect(verdictOf(gone, 'engine')).toBe('warning')
  expect(JSON.stringify([...gone.values()])).not.toContain('hidden-word')
})

test('the command ends with 0 or 1, and prints lines or JSON', async () => {
  const store = fresh().ENGINE_STORE
  const fine = await perdure(['doctor', '--store', store, '--port', '0'])
  expect(fine).toMatchObject({ code: 0, stderr: '' })
  expect(fine.stdout).toMatch(/^ok {7}node: Node \d/)
  const env = { ENGINE_SIGNING_KEY: 'short' }
  const bad = await perdure(['doctor', '--json', '--store', store, '--port', '0'], { env })
  expect(bad.code).toBe(1)
  const lines = bad.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Finding)
  expect(lines.filter(({ verdict }) => verdict === 'error').map(({ check }) => check)).toEqual(['configuration'])
})
