import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Connection } from '../sqlite/connection.ts'
import { migrate } from '../sqlite/migrations.ts'
import { Writer } from '../sqlite/writer.ts'
import { type Channel, InlineChannel, type Server } from './channel.ts'
import { LoneCommits } from './lone-commits.ts'
import type { BatchAnswer, Request } from './requests.ts'

/** A unit without checks: raises the revision of keys and namespaces by one. */
const UNIT: Request = [0, 0, 'admin.changed']
const APART_MS = 1
const WRITTEN: BatchAnswer = { answers: [null], transactions: 1 }

type Place = 'here' | 'thread'

/** Both places give the answers that the test sets, and record what was written where. */
class Places {
  readonly wrote: Place[] = []
  readonly closed: string[] = []
  now = 1000
  /** How long the next commits take. */
  tookMs = 0.3
  answerHere: BatchAnswer = WRITTEN
  readonly commits: LoneCommits

  constructor(open?: () => Promise<Server>) {
    const here: Server = { run: () => this.#written('here'), close: () => this.closed.push('here') }
    const thread = {
      run: async () => this.#written('thread'),
      close: async (isBroken?: boolean) => void this.closed.push(isBroken ? 'broken thread' : 'thread'),
    }
    this.commits = new LoneCommits({ thread, open: open ?? (async () => here), elapsed: () => this.now })
  }

  #written(place: Place): BatchAnswer {
    this.wrote.push(place)
    this.now += this.tookMs
    return place === 'here' ? this.answerHere : WRITTEN
  }

  /** Commits one after the other; returns where each was written since the call. */
  async run(count: number, { batch = [UNIT], apartMs = APART_MS }: { batch?: Request[]; apartMs?: number } = {}) {
    const from = this.wrote.length
    for (let i = 0; i < count; i++) {
      this.now += apartMs
      await this.commits.run(batch)
    }
    return this.wrote.slice(from)
  }
}

const times = (count: number, place: Place): Place[] => Array.from({ length: count }, () => place)

test('after eight lone commits of the thread 128 are written here, and then eight by the thread again', async () => {
  const places = new Places()
  expect(await places.run(8)).toEqual(times(8, 'thread'))
  expect(await places.run(128)).toEqual(times(128, 'here'))
  expect(await places.run(9)).toEqual([...times(8, 'thread'), 'here'])
})

test('whatever does not stand alone is written by the thread, and ends the row', async () => {
  const others: Parameters<Places['run']>[1][] = [
    { batch: [UNIT, UNIT] },
    { batch: [{ type: 'probe' }] },
    { batch: [[0, 1, 'admin.changed', 'x'.repeat(64 * 1024)]] },
    { apartMs: 0.1 },
  ]
  for (const other of others) {
    const places = new Places()
    await places.run(7)
    expect(await places.run(1, other)).toEqual(['thread'])
    expect(await places.run(9)).toEqual([...times(8, 'thread'), 'here'])
    expect(await places.run(1, other)).toEqual(['thread'])
    expect(await places.run(9)).toEqual([...times(8, 'thread'), 'here'])
  }
})

test('a slow disk never holds up the calling thread twice in a row', async () => {
  const places = new Places()
  places.tookMs = 2.1
  expect(await places.run(20)).toEqual(times(20, 'thread'))
  places.tookMs = 0.3
  await places.run(8)
  places.tookMs = 2.1
  expect(await places.run(20)).toEqual(['here', ...times(19, 'thread')])
})

test('the thread writes a unit that fails here, and everything if no connection can be opened here', async () => {
  const places = new Places()
  await places.run(8)
  places.answerHere = { answers: [{ failed: 'database is locked', unavailable: true }], transactions: 0 }
  expect(await places.run(1)).toEqual(['here', 'thread'])
  const without = new Places(() => Promise.reject(new Error('unable to open database file')))
  expect(await without.run(30)).toEqual(times(30, 'thread'))
})

test('a check that does not hold is answered from here', async () => {
  const places = new Places()
  await places.run(8)
  places.answerHere = { answers: [0], transactions: 1 }
  places.now += APART_MS
  expect(await places.commits.run([UNIT])).toEqual(places.answerHere)
})

test('the connection here is closed first, and the thread leaves a database as it is that broke here', async () => {
  const sound = new Places()
  await sound.run(9)
  await sound.commits.close()
  expect(sound.closed).toEqual(['here', 'thread'])
  const broken = new Places()
  await broken.run(8)
  broken.answerHere = { answers: [{ failed: 'disk I/O error', unavailable: true }], transactions: 0, broken: 'fsync' }
  expect(await broken.run(1)).toEqual(['here'])
  await broken.commits.close()
  expect(broken.closed).toEqual(['here', 'broken thread'])
})

test('on one file, every commit of both connections is there, and only the thread writes the log back', async () => {
  const { file, thread } = await store()
  let here = 0
  let bytesOfLog = 0
  const open = async () => {
    const connection = await Connection.open(file, { readOnly: false })
    connection.exec('PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0')
    const writer = new Writer(connection, { writesLogBack: false })
    return {
      run: (batch: readonly Request[]) => {
        here++
        return writer.run(batch)
      },
      close: () => {
        writer.close()
        bytesOfLog = statSync(`${file}-wal`).size
      },
    }
  }
  let now = 0
  const commits = new LoneCommits({ thread, open, elapsed: () => ++now })
  for (let i = 0; i < 300; i++) expect(await commits.run([UNIT])).toEqual(WRITTEN)
  expect(here).toBeGreaterThan(200)
  const reader = await Connection.open(file, { readOnly: true })
  expect(reader.prepare('SELECT revision FROM admin_revision').all([])).toEqual([[300]])
  expect(reader.prepare('PRAGMA integrity_check').all([])).toEqual([['ok']])
  reader.close()
  await commits.close()
  expect(bytesOfLog).toBeGreaterThan(0)
  expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
})

test('a unit that meets the lock of another program is written by the thread, once', async () => {
  const { file, thread } = await store()
  const other = await Connection.open(file, { readOnly: false })
  const waiting: Channel = {
    run: batch => {
      if (isLocked) other.exec('COMMIT')
      isLocked = false
      return thread.run(batch)
    },
    close: () => thread.close(),
  }
  let isLocked = false
  const open = async () => {
    const connection = await Connection.open(file, { readOnly: false })
    connection.exec('PRAGMA busy_timeout = 0')
    return new Writer(connection, { writesLogBack: false })
  }
  let now = 0
  const commits = new LoneCommits({ thread: waiting, open, elapsed: () => ++now })
  for (let i = 0; i < 9; i++) await commits.run([UNIT])
  other.exec('BEGIN IMMEDIATE')
  isLocked = true
  expect(await commits.run([UNIT])).toEqual(WRITTEN)
  expect(isLocked).toBe(false)
  expect(other.prepare('SELECT revision FROM admin_revision').all([])).toEqual([[10]])
  other.close()
  await commits.close()
})

async function store() {
  const dir = mkdtempSync(join(tmpdir(), 'perdure-lone-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'engine.db')
  const connection = await Connection.open(file, { readOnly: false })
  migrate(connection)
  return { file, thread: new InlineChannel(new Writer(connection)) }
}
