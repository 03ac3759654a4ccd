// `perdure backup` and `perdure restore`: a copy taken from a running engine is a working store.

import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backupStore, ConfigError, restoreStore, verifyStore } from '@perdure/engine'
import { expect, test } from 'vitest'
import {
  flow,
  type Invoke,
  openDatabase,
  openEngine,
  perdure,
  run,
  step,
  tempStoreFile,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { callbackUrl } from '../../kit/runner/wire.ts'

const sqlite = (file: string) => `sqlite:${file}`

const MAILED = { mailed: flow([step('WaitForCallback', 'answer', {}), run('then')]) }

/** A run that waits for a callback, and the path of the callback's URL. */
async function mailedRun(engine: Awaited<ReturnType<typeof openEngine>>): Promise<{ mailed: string; path: string }> {
  const runner = await engine.runner({ workflows: MAILED })
  await runner.register(engine.api, { features: ['callbacks'] })
  const { runId: mailed } = await engine.api.send({ name: 'mailed' })
  await engine.api.reaches(mailed, 'waiting')
  const [invoke] = runner.record.of(mailed) as [Invoke]
  return { mailed, path: new URL(callbackUrl(invoke.ctx, 'answer')).pathname }
}

/** An engine with a run that waits. */
async function busyEngine() {
  const engine = await openEngine({ onDisk: true })
  const name = unique('held')
  const eventName = unique('go')
  await engine.runner({ workflows: { [name]: flow([wait('hold', eventName), run('then')]) } })
  const { runId } = await engine.api.send({ name })
  await engine.api.reaches(runId, 'waiting')
  return { engine, runId, eventName, name }
}

test('a backup of a running engine holds what was acknowledged, and an engine goes on from it', async () => {
  const { engine, runId, eventName, name } = await busyEngine()
  const { mailed, path } = await mailedRun(engine)
  const acknowledged: string[] = []
  let posting = true
  const posts = (async () => {
    while (posting) acknowledged.push((await engine.api.send({ name })).runId)
  })()
  const file = join(dirname(tempStoreFile()), 'copy.db')
  await until(() => acknowledged.length >= 5)
  const before = [...acknowledged]
  expect(await backupStore(sqlite(engine.storeFile), file)).toBeGreaterThan(8192)
  posting = false
  await posts
  expect(readdirSync(dirname(file))).toEqual(['copy.db'])
  await engine.stop()
  const restored = tempStoreFile()
  await restoreStore(sqlite(restored), file)
  // Reading the copy, which has no write-ahead log yet, leaves no lock behind.
  for await (const violation of verifyStore(sqlite(restored))) expect.unreachable(violation.message)
  const second = await openEngine({ storeFile: restored })
  for (const id of before) expect((await second.api.get(`/runs/${id}`)).status).toBe(200)
  await second.runner({ workflows: { ...MAILED, [name]: flow([wait('hold', eventName), run('then')]) } })
  await second.api.post('/events', { name: eventName })
  await second.api.reaches(runId, 'succeeded')
  // The URL that was mailed before the backup still belongs to the run.
  expect((await second.api.post(path, { ok: true })).status).toBe(202)
  expect((await second.api.succeeded(mailed)).result).toMatchObject({ answer: { ok: true } })
})

test('a backup replaces nothing without --force, and leaves nothing behind when it fails', async () => {
  const { engine } = await busyEngine()
  const file = join(dirname(tempStoreFile()), 'copy.db')
  writeFileSync(file, 'mine')
  const store = sqlite(engine.storeFile)
  await expect(backupStore(store, file)).rejects.toThrow('exists: --force')
  expect(readFileSync(file, 'utf8')).toBe('mine')
  await backupStore(store, file, { force: true })
  expect(readFileSync(file, 'utf8')).not.toBe('mine')
  await expect(backupStore(store, engine.storeFile, { force: true })).rejects.toThrow('the store itself')
  const bad = tempStoreFile()
  writeFileSync(bad, 'x'.repeat(9000))
  await expect(backupStore(sqlite(bad), `${bad}.copy`)).rejects.toThrow(/cannot be copied/)
  expect(readdirSync(dirname(bad))).toEqual(['engine.db'])
  await expect(backupStore(sqlite(`${bad}.none`), `${bad}.copy`)).rejects.toThrow('there is no file')
  await expect(backupStore('postgres://u:hidden@h/d', 'x')).rejects.toThrow(ConfigError)
  await expect(backupStore('postgres://u:hidden@h/d', 'x')).rejects.not.toThrow('hidden')
})

test('a restore refuses while an engine holds the store, and replaces nothing without --force', async () => {
  const { engine, runId } = await busyEngine()
  const file = `${engine.storeFile}.copy`
  const store = sqlite(engine.storeFile)
  await backupStore(store, file)
  await expect(restoreStore(store, file, { force: true })).rejects.toThrow('another engine is running')
  expect((await engine.api.get(`/runs/${runId}`)).status).toBe(200)
  await engine.stop()
  await expect(restoreStore(store, file)).rejects.toThrow('exists: --force')
  await restoreStore(store, file, { force: true })
  const again = await openEngine({ storeFile: engine.storeFile })
  expect((await again.api.get(`/runs/${runId}`)).status).toBe(200)
})

test('a restore of a damaged, foreign or newer file leaves the store as it was', async () => {
  const { engine, runId } = await busyEngine()
  const good = `${engine.storeFile}.copy`
  const store = sqlite(engine.storeFile)
  await backupStore(store, good)
  await engine.stop()
  const damaged = `${good}.damaged`
  const bytes = readFileSync(good)
  bytes.fill(0x5a, 8192 * 3, 8192 * 9)
  writeFileSync(damaged, bytes)
  const newer = `${good}.newer`
  copyFileSync(good, newer)
  ;(await openDatabase(newer)).exec('INSERT INTO migrations VALUES (1000)')
  const foreign = `${good}.foreign`
  ;(await openDatabase(foreign)).exec('CREATE TABLE other (id INTEGER)')
  await expect(restoreStore(store, damaged, { force: true })).rejects.toThrow(/cannot be copied/)
  await expect(restoreStore(store, newer, { force: true })).rejects.toThrow('schema version 1000')
  await expect(restoreStore(store, foreign, { force: true })).rejects.toThrow('not the store of an engine')
  await expect(restoreStore(store, `${good}.none`, { force: true })).rejects.toThrow('there is no file')
  expect(readdirSync(dirname(good)).filter(name => name.includes('copying'))).toEqual([])
  const again = await openEngine({ storeFile: engine.storeFile })
  expect((await again.api.get(`/runs/${runId}`)).status).toBe(200)
})

test('a log that a killed engine left beside the old store is not applied to the new one', async () => {
  const { engine } = await busyEngine()
  const file = `${engine.storeFile}.copy`
  await backupStore(sqlite(engine.storeFile), file)
  const target = tempStoreFile()
  // As after a kill: the file and its log, neither of them closed.
  const other = await openEngine({ onDisk: true })
  await other.api.post('/events', { name: 'late' })
  copyFileSync(other.storeFile, target)
  copyFileSync(`${other.storeFile}-wal`, `${target}-wal`)
  await restoreStore(sqlite(target), file, { force: true })
  expect(existsSync(`${target}-wal`)).toBe(false)
  const again = await openEngine({ storeFile: target })
  expect((await again.api.get('/events')).text).not.toContain('late')
})

test('the commands report what they did', async () => {
  const { engine } = await busyEngine()
  const file = `${engine.storeFile}.copy`
  const made = await perdure(['backup', file, '--store', sqlite(engine.storeFile), '--json'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(made.stdout)).toEqual({ file, bytes: readFileSync(file).length })
  const refused = await perdure(['restore', file, '--store', sqlite(engine.storeFile), '--force'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^perdure: another engine is running on [^\n]+\n$/)
})
