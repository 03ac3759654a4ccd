// The files of a SQLite store: their permissions, a lost database next to its log, files lost under a running engine, leftovers
// of a killed backup, and a lock that a full disk refuses.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { backupStore, openAdministration, openSqliteStore, restoreStore } from '@perdure/engine'
import { describe, expect, test } from 'vitest'
import { findings } from '../../kit/engine/findings.ts'
import { onCleanup, openEngine, serveToTheEnd, startEngine, tempStoreFile, until } from '../../kit/index.ts'
import { fill, smallFileSystem } from '../../kit/servers/full-disk.ts'

const sqlite = (file: string) => `sqlite:${file}`
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** The mode of every file of the folder, by its name. */
function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map(name => [name, modeOf(join(folder, name))]))
}

/** Sets the umask that keeps every permission, until the end of the test. */
function withOpenUmask(): void {
  const before = process.umask(0)
  onCleanup(() => void process.umask(before))
}

describe('permissions', () => {
  test('an engine creates its folder for its owner alone, and every file in it, whatever the umask', async () => {
    withOpenUmask()
    const folder = join(dirname(tempStoreFile()), 'deeper')
    const engine = await openEngine({ storeFile: join(folder, 'engine.db') })
    await engine.api.post('/events', { name: 'any' })
    expect(modeOf(folder)).toBe('700')
    const modes = modesIn(folder)
    const names = ['', '-wal', '-shm', '.lock'].map(side => `engine.db${side}`)
    expect(Object.keys(modes)).toEqual(expect.arrayContaining(names))
    expect(new Set(Object.values(modes))).toEqual(new Set(['600']))
    expect(engine.log.join('')).not.toContain('chmod')
  })

  test('so do the first key, a backup and a restore', async () => {
    withOpenUmask()
    const store = join(dirname(tempStoreFile()), 'keys', 'engine.db')
    const { administration, close } = await openAdministration(sqlite(store), { create: true })
    await administration.createKey({ kind: 'secret' })
    expect(new Set(Object.values(modesIn(dirname(store))))).toEqual(new Set(['600']))
    await close()
    const copy = join(dirname(tempStoreFile()), 'copy.db')
    await backupStore(sqlite(store), copy)
    const restored = join(dirname(tempStoreFile()), 'restored', 'engine.db')
    await restoreStore(sqlite(restored), copy)
    expect([modeOf(dirname(store)), modeOf(copy), modeOf(dirname(restored)), modeOf(restored)]).toEqual([
      '700',
      '600',
      '700',
      '600',
    ])
  })

  test('an older store that others can open is left as it is; the log and the doctor say the commands', async () => {
    const file = tempStoreFile()
    await (await openSqliteStore({ file })).close()
    chmodSync(file, 0o644)
    chmodSync(dirname(file), 0o775)
    const commands = `chmod 700 ${dirname(file)}, and chmod 600 ${file}`
    const doctor = async () => (await findings({ ENGINE_STORE: sqlite(file) })).get('store.permissions')
    expect(await doctor()).toMatchObject({ verdict: 'warning', message: expect.stringContaining(commands) })
    const engine = await openEngine({ storeFile: file, env: { ENGINE_LOG_LEVEL: 'warn' } })
    expect(engine.log.join('')).toContain(commands)
    expect([modeOf(dirname(file)), modeOf(file)]).toEqual(['775', '644'])
    await engine.stop()
    for (const name of readdirSync(dirname(file))) chmodSync(join(dirname(file), name), 0o600)
    const replaceable = { message: expect.stringMatching(/can replace files of the store: chmod 700 \S+$/) }
    expect(await doctor()).toMatchObject({ verdict: 'warning', ...replaceable })
    // Others can list the folder, but cannot open anything there.
    chmodSync(dirname(file), 0o755)
    expect(await doctor()).toMatchObject({ verdict: 'ok' })
    const quiet = await openEngine({ storeFile: file, env: { ENGINE_LOG_LEVEL: 'warn' } })
    expect(quiet.log.join('')).not.toContain('chmod')
  })
})

/** A store as a killed engine leaves it: acknowledged work is only in its log. */
async function killedStore(): Promise<string> {
  const engine = await openEngine({ onDisk: true })
  await engine.api.post('/events', { name: 'acknowledged' })
  const file = tempStoreFile()
  for (const side of ['', '-wal']) copyFileSync(`${engine.storeFile}${side}`, `${file}${side}`)
  return file
}

describe('a database that was lost beside its log', () => {
  test.each([
    ['missing', (file: string) => rmSync(file)],
    ['empty', (file: string) => truncateSync(file)],
  ])('%s: nothing opens the store, the log stays, and the database put back has everything', async (state, lose) => {
    const file = await killedStore()
    const kept = `${dirname(tempStoreFile())}/kept.db`
    copyFileSync(file, kept)
    const log = readFileSync(`${file}-wal`)
    lose(file)
    await expect(openSqliteStore({ file })).rejects.toThrow(
      `the database is ${state}, but its log ${file}-wal holds acknowledged work: put`,
    )
    await expect(openAdministration(sqlite(file), { create: true })).rejects.toThrow('holds acknowledged work')
    await expect(backupStore(sqlite(file), `${file}.copy`)).rejects.toThrow(state === 'empty' ? 'is empty' : 'no file')
    await expect(restoreStore(sqlite(file), kept)).rejects.toThrow('--force')
    expect((await findings({ ENGINE_STORE: sqlite(file) })).get('store')).toMatchObject({
      verdict: 'error',
      message: expect.stringContaining(`the database is ${state}`),
    })
    expect(readFileSync(`${file}-wal`).equals(log)).toBe(true)
    copyFileSync(kept, file)
    const again = await openEngine({ storeFile: file })
    expect((await again.api.get('/events')).text).toContain('acknowledged')
  })

  test('an engine that died while it created its store starts again', async () => {
    const file = tempStoreFile()
    writeFileSync(file, '')
    // The journal of a database without any page, as SQLite first writes it.
    const journal = Buffer.alloc(512)
    Buffer.from('d9d505f920a163d7', 'hex').copy(journal)
    writeFileSync(`${file}-journal`, journal)
    await (await openSqliteStore({ file })).close()
    journal.writeUInt32BE(7, 16)
    rmSync(file)
    writeFileSync(`${file}-journal`, journal)
    await expect(openSqliteStore({ file })).rejects.toThrow(`its log ${file}-journal`)
  })
})

describe('files that are lost under a running engine', () => {
  const lost = { error: { code: 'unavailable', details: { reason: 'store_lost' } } }

  /** Opens an engine with events, causes the fault, and waits until the engine notices; returns the sentence of its refusals. */
  async function afterFault(fault: (file: string) => void) {
    const engine = await startEngine()
    for (let i = 0; i < 5; i++) await engine.api.post('/events', { name: 'acknowledged' })
    fault(engine.storeFile)
    await until(async () => (await engine.api.get('/readyz')).status === 503, { what: 'a loss that is noticed' })
    const refusal = await engine.api.post('/events', { name: 'late' })
    expect(refusal).toMatchObject({ status: 503, json: lost })
    return { engine, message: (refusal.json as { error: { message: string } }).error.message }
  }

  async function eventsIn(file: string): Promise<number> {
    const engine = await openEngine({ storeFile: file })
    return (await engine.api.get('/events')).text.split('acknowledged').length - 1
  }

  test('its folder is removed: everything can be saved from the open files, and its end is a failure', async () => {
    const { engine, message } = await afterFault(file => rmSync(dirname(file), { recursive: true }))
    expect(message).toContain(`engine.db was removed or renamed under the running engine`)
    expect(message).toContain(`perdure backup FILE --pid ${engine.pid}`)
    const saved = tempStoreFile()
    await backupStore(sqlite(engine.storeFile), saved, { pid: engine.pid })
    const { code, stderr } = await engine.sigterm()
    expect(code).toBe(2)
    expect(stderr).toContain(`perdure: ${message}`)
    expect(await eventsIn(saved)).toBe(5)
  })

  test('an older copy is put in its place: the next start does not mix it with the log of the newer one', async () => {
    const { engine, message } = await afterFault(file => {
      const older = `${file}.older`
      copyFileSync(file, older)
      renameSync(older, file)
    })
    expect(message).toContain('engine.db was replaced by another file')
    await engine.sigterm()
    const { storeFile } = engine
    changeGeneration(storeFile)
    expect((await serveToTheEnd({ storeFile })).stderr).toContain(`is not the database that its log`)
    rmSync(`${storeFile}-wal`)
    await eventsIn(storeFile)
  })

  test('it is written over in place: the engine notices without any work', async () => {
    const { engine, message } = await afterFault(file => writeFileSync(file, readFileSync(file).fill(0)))
    expect(message).toContain('engine.db was overwritten')
    expect((await engine.sigterm()).code).toBe(2)
  })

  test('only its log is removed: everything is in the database', async () => {
    const { engine, message } = await afterFault(file => rmSync(`${file}-wal`))
    expect(message).toContain('engine.db-wal was removed')
    await engine.kill9()
    expect(await eventsIn(engine.storeFile)).toBe(5)
  })
})

/** Changes the generation of the database (`user_version`), so that it no longer matches its log. */
function changeGeneration(file: string): void {
  const bytes = readFileSync(file)
  bytes.writeInt32BE(7, 60)
  writeFileSync(file, bytes)
}

test('a backup removes what killed backups to any name have left, and nothing of one that is running', async () => {
  const file = tempStoreFile()
  await (await openSqliteStore({ file })).close()
  const folder = join(dirname(tempStoreFile()), 'backups')
  mkdirSync(folder)
  const ended = spawn(process.execPath, ['-e', ''])
  await once(ended, 'exit')
  const copyOf = (host: string, pid: number | undefined, side = '') => `monday.db.perdure-copy-${host}-${pid}${side}`
  const abandoned = [copyOf(hostname(), ended.pid), copyOf(hostname(), ended.pid, '-wal'), copyOf('old-host', 1)]
  const running = [copyOf(hostname(), process.ppid), copyOf('other-host', 1)]
  for (const name of [...abandoned, ...running, 'monday.db']) writeFileSync(join(folder, name), 'x')
  const longAgo = new Date(Date.now() - 48 * 3_600_000)
  utimesSync(join(folder, copyOf('old-host', 1)), longAgo, longAgo)
  await backupStore(sqlite(file), join(folder, 'tuesday.db'))
  expect(readdirSync(folder).sort()).toEqual(['monday.db', 'tuesday.db', ...running].sort())
})

test('a backup that is killed leaves its copy under a name that the next one recognizes', async () => {
  const file = tempStoreFile()
  const store = await openSqliteStore({ file })
  onCleanup(() => store.close())
  const folder = dirname(tempStoreFile())
  const code = `import { backupStore } from '@perdure/engine'
    import { watch } from 'node:fs'
    watch(${JSON.stringify(folder)}, () => process.kill(process.pid, 'SIGKILL'))
    await backupStore(${JSON.stringify(sqlite(file))}, ${JSON.stringify(join(folder, 'a.db'))})`
  const args = ['--input-type=module', '-e', code]
  const killed = spawn(process.execPath, args, { cwd: join(import.meta.dirname, '../../../packages/cli') })
  await once(killed, 'exit')
  expect(readdirSync(folder).map(name => name.slice(0, 17))).toContain('a.db.perdure-copy')
  await backupStore(sqlite(file), join(folder, 'b.db'))
  expect(readdirSync(folder)).toEqual(['b.db'])
})

describe('a start that cannot take the lock says why', () => {
  test('on a disk that takes no more: not that another engine is running', async () => {
    const file = tempStoreFile()
    await (await openSqliteStore({ file })).close()
    const exit = await new Promise<{ code: unknown; stderr: string }>(resolve => {
      const perdure = join(import.meta.dirname, '../../../packages/cli/bin/perdure.js')
      // No file of this process can grow.
      const command = 'ulimit -f 0 && exec "$0" "$@"'
      const args = ['-c', command, process.execPath, perdure, 'serve', '--port', '0', '--store', sqlite(file)]
      execFile('bash', args, (error, _, stderr) => resolve({ code: error?.code, stderr }))
    })
    expect(exit).toEqual({ code: 2, stderr: `perdure: ${file}.lock cannot be written: disk I/O error\n` })
  })

  const full = smallFileSystem(64)
  test.skipIf(full === undefined)('on a full file system (needs root)', async () => {
    fill(full as string)
    const { code, stderr } = await serveToTheEnd({ storeFile: join(full as string, 'engine.db') })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perdure: [^\n]*engine\.db\.lock cannot be written: [^\n]*(full|no space left)[^\n]*\n$/)
  })
})
