// The contract on a file with its threads, and the promises that only a file has.

import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { loadSqlite } from '../../../../packages/engine/src/adapters/sql/sqlite/module.ts'
import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { onCleanup } from '../../../kit/cleanup.ts'
import { openEmptier } from '../../../kit/engine/database.ts'
import { keptOpen } from '../../../kit/servers/kept-open.ts'
import { PATIENCE_MS } from '../../../kit/until.ts'
import { aLeasedRun, anEvent, aRun, aStep, created, NOW, NS, write } from '../samples.ts'
import { storeContract } from '../store-contract.ts'

const root = mkdtempSync(join(tmpdir(), 'perdure-store-'))
let files = 0

/** A new database file, in a directory that does not exist yet. */
function freshFile(): string {
  return join(root, String(files++), 'engine.db')
}

afterAll(() => rmSync(root, { recursive: true, force: true }))

const kept = freshFile()
const store = await openSqliteStore({ file: kept })
onCleanup(() => store.close())
storeContract('SQLite on a file', keptOpen(store, await openEmptier(kept)))

describe('SQLite on a file', () => {
  it('keeps what was committed over a reopening', async () => {
    const file = freshFile()
    const run = aLeasedRun()
    const event = anEvent()
    const first = await openSqliteStore({ file })
    await write(first, created(run, aStep(run)), { type: 'event.recorded', event })
    await first.close()
    const second = await openSqliteStore({ file })
    expect(await second.loadRun(run.id)).toEqual({ run, steps: [aStep(run)], rootLogged: 0 })
    const [found] = await second.in(NS).events({ limit: 1 })
    expect(found?.event).toEqual(event)
    await second.close()
  })

  it('never gives a position twice, even when the log was emptied', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    await write(store, { type: 'event.recorded', event: anEvent() })
    const [before] = await store.in(NS).events({ limit: 1 })
    await store.close()
    const { DatabaseSync } = await loadSqlite()
    const database = new DatabaseSync(file)
    database.exec('DELETE FROM events')
    database.close()
    const again = await openSqliteStore({ file })
    await write(again, { type: 'event.recorded', event: anEvent() })
    const [after] = await again.in(NS).events({ limit: 1 })
    expect(after?.position).toBeGreaterThan(before?.position as number)
    await again.close()
  })

  it('refuses a second opener, by any path, until the first has closed', async () => {
    const file = freshFile()
    const first = await openSqliteStore({ file })
    const link = join(root, `link-${files}`)
    symlinkSync(join(file, '..'), link)
    for (const path of [file, join(link, 'engine.db')]) {
      const error: Error = await openSqliteStore({ file: path }).then(
        () => new Error('it was opened'),
        cause => cause,
      )
      expect(error.message).toContain('another engine')
      expect(error.message).toContain(file)
      expect(error.message).not.toContain('\n')
    }
    await first.ping()
    await first.close()
    await (await openSqliteStore({ file })).close()
  })

  it('is refused to a second engine without a lock file, or by another name, until its process was killed', async () => {
    const file = freshFile()
    const holder = fork(join(import.meta.dirname, 'holder.ts'), [file], {
      execArgv: ['--import', 'tsx', '--conditions', 'perdure-source'],
    })
    const [runIds] = (await once(holder, 'message')) as [string[]]
    await expect(openSqliteStore({ file })).rejects.toThrow('another engine')
    // It does not notice anything that follows.
    holder.kill('SIGSTOP')
    rmSync(`${file}.lock`)
    const running = `another engine is running on ${file}: process ${holder.pid} of ${hostname()}, since `
    await expect(openSqliteStore({ file })).rejects.toThrow(running)
    const other = join(file, '..', 'other.db')
    linkSync(file, other)
    await expect(openSqliteStore({ file: other })).rejects.toThrow('2 names (hard links)')
    rmSync(other)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const store = await openSqliteStore({ file })
    for (const runId of runIds) expect(await store.loadRun(runId), runId).toMatchObject({ steps: [{}, {}] })
    await store.close()
    await expectSound(file)
  })

  it('takes nothing more once another engine has claimed it', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    const { DatabaseSync } = await loadSqlite()
    const other = new DatabaseSync(file)
    other.exec(`UPDATE engine_claim SET owner = 'another'`)
    other.close()
    const lost = { code: 'unavailable', message: expect.stringContaining('another engine has claimed engine.db') }
    await expect(write(store, created(aRun()))).rejects.toMatchObject(lost)
    expect(store.failure()).toMatchObject({ details: { reason: 'store_lost' } })
    await store.close()
  })

  it('can be opened from a copy of its file while its engine runs', async () => {
    const [file, copy] = [freshFile(), join(root, 'copy.db')]
    const store = await openSqliteStore({ file })
    copyFileSync(file, copy)
    await (await openSqliteStore({ file: copy })).close()
    await store.close()
  })

  it('shares few transactions among many units on their way at once', async () => {
    const store = await openSqliteStore({ file: freshFile() })
    const before = store.stats()
    await Promise.all(Array.from({ length: 300 }, () => write(store, created(aRun()))))
    const after = store.stats()
    expect(after.requests - before.requests).toBe(300)
    expect(after.transactions - before.transactions).toBeLessThanOrEqual(3)
    await store.close()
  })

  it('uses a transaction for each unit only in a batch with a unit that fails', async () => {
    const store = await openSqliteStore({ file: freshFile() })
    const run = aLeasedRun()
    await write(store, created(run))
    const units = Array.from({ length: 50 }, (_, index) =>
      write(store, { type: 'step.recorded', step: aStep(run, { index: index === 30 ? 29 : index }) }),
    )
    const outcomes = await Promise.allSettled(units)
    expect(outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([30])
    expect(await store.in(NS).steps(run.id)).toHaveLength(49)
    const { transactions } = store.stats()
    await Promise.all(Array.from({ length: 50 }, () => write(store, created(aRun()))))
    expect(store.stats().transactions).toBe(transactions + 1)
    await store.close()
  })

  it('refuses units beyond its bound, and takes them again when it has caught up', async () => {
    const store = await openSqliteStore({ file: freshFile() })
    const empty = () => store.commit({ guards: [], changes: [] })
    const taken = Array.from({ length: 20_000 }, empty)
    expect(store.stats().pending).toBe(20_000)
    await expect(empty()).rejects.toMatchObject({ code: 'overloaded' })
    // The engine's own work is never refused.
    const claim = store.claimRuns({ owner: 'e', now: NOW, leaseUntil: NOW, limit: 1 })
    await Promise.all([...taken, claim])
    expect(store.stats().pending).toBe(0)
    await empty()
    await store.close()
  })

  it('answers a ping by a write that is durable', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    const { DatabaseSync } = await loadSqlite()
    const outsider = new DatabaseSync(file, { readOnly: true })
    const probes = () => (outsider.prepare('SELECT count FROM probes').all() as { count: number }[])[0]?.count
    expect(probes()).toBe(0)
    await store.ping()
    expect(probes()).toBe(1)
    outsider.close()
    await store.close()
  })

  it('finishes what is queued before it closes, refuses what comes after, and closes once', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    const runs = Array.from({ length: 2000 }, () => aRun())
    const writes = runs.map(run => write(store, created(run)))
    const closing = [store.close(), store.close()]
    const late = [write(store, created(aRun())), store.loadRun('run_x'), store.ping()]
    for (const outcome of await Promise.allSettled(late)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    }
    await Promise.all([...writes, ...closing])
    expect(readdirSync(join(file, '..')).sort()).toEqual(['engine.db', 'engine.db.lock'])
    const again = await openSqliteStore({ file })
    expect(await again.loadRun(runs[1999]?.id as string)).toBeDefined()
    await again.close()
  })

  it('keeps its process alive while it is open, and no longer', async () => {
    const args = ['--import', 'tsx', '--conditions', 'perdure-source', join(import.meta.dirname, 'leaver.ts')]
    // The process ends by itself; otherwise it is killed and the test fails.
    const { stdout } = await promisify(execFile)(process.execPath, [...args, freshFile()], {
      timeout: PATIENCE_MS,
    })
    expect(stdout).toBe('open\nclosed\n')
  })

  it('refuses a database of a newer engine, and leaves it as it is', async () => {
    const file = freshFile()
    await (await openSqliteStore({ file })).close()
    const { DatabaseSync } = await loadSqlite()
    const database = new DatabaseSync(file)
    database.exec('INSERT INTO migrations VALUES (1000)')
    database.close()
    await expect(openSqliteStore({ file })).rejects.toThrow(/engine\.db: .*schema version 1000.*newer engine/)
    // The lock is free again.
    await expect(openSqliteStore({ file })).rejects.toThrow('schema version 1000')
  })

  it('refuses a file that is no database', async () => {
    const file = freshFile()
    await (await openSqliteStore({ file })).close()
    writeFileSync(file, 'x'.repeat(8192))
    await expect(openSqliteStore({ file })).rejects.toThrow(/cannot open .*engine\.db/)
  })

  it('stops for good when a commit fails, keeps what it had acknowledged, and can be closed', async () => {
    const file = freshFile()
    // No file of this process can exceed 4 MiB, so the write-ahead log fails in the middle of a commit.
    const command = 'ulimit -f 4096 && exec "$0" --import tsx --conditions perdure-source "$1" "$2"'
    const args = ['-c', command, process.execPath, join(import.meta.dirname, 'full-disk.ts'), file]
    const { stdout } = await promisify(execFile)('bash', args)
    const report = JSON.parse(stdout) as {
      durable: string[]
      codes: string[]
      after: string
      troubles: number
    }
    expect(report.durable.length).toBeGreaterThan(0)
    expect(new Set(report.codes)).toEqual(new Set(['unavailable']))
    expect(report.after).toBe('unavailable')
    expect(report.troubles).toBeGreaterThan(0)
    const store = await openSqliteStore({ file })
    for (const runId of report.durable) expect(await store.loadRun(runId), runId).toBeDefined()
    await store.close()
    await expectSound(file)
  })

  it('is unavailable, and not at fault itself, where a page is damaged', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    const runs = Array.from({ length: 100 }, () => aLeasedRun({ input: JSON.stringify('x'.repeat(4000)) }))
    await Promise.all(runs.map(run => write(store, created(run))))
    await store.close()
    const bytes = readFileSync(file)
    bytes.fill(0x5a, bytes.length * 0.75)
    writeFileSync(file, bytes)
    const damaged = await openSqliteStore({ file })
    const now = NOW + 3_600_000
    const work = [
      ...runs.map(({ id }) => damaged.loadRun(id)),
      damaged.claimRuns({ owner: 'e', now, leaseUntil: now + 1000, limit: 100 }),
    ]
    const failures = (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected')
    expect(failures.length).toBeGreaterThan(1)
    for (const failure of failures) expect(failure).toMatchObject({ reason: { code: 'unavailable' } })
    await damaged.close()
  })

  it('is sound after all that', async () => {
    const file = freshFile()
    const store = await openSqliteStore({ file })
    const runs = Array.from({ length: 200 }, () => aLeasedRun({ input: JSON.stringify('x'.repeat(5000)) }))
    await Promise.all(
      runs.map(async run => {
        await write(store, created(run))
        for (let index = 0; index < 5; index++) {
          await write(store, {
            type: 'step.recorded',
            step: aStep(run, { index, data: JSON.stringify('y'.repeat(index * 3000)) }),
          })
        }
      }),
    )
    await store.close()
    await expectSound(file)
  })
})

async function expectSound(file: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(file)
  expect(database.prepare('PRAGMA integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }])
  database.close()
}
