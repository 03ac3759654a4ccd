// Copies a SQLite store out of the files that its engine has open, after they were removed or replaced: their contents exist
// until the process ends. Called by backup.ts.

import { copyFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { firstBytes } from './store-files.ts'

/** The first bytes of a database, and the first bytes of a log. */
const DATABASE = Buffer.from('SQLite format 3\0')
const LOGS = [0x377f0682, 0x377f0683]

interface OpenFile {
  /** The path by which this process opens it. */
  path: string
  kind: 'database' | 'log'
  /** Changes with every write. */
  state: string
}

/**
 * Copies the database and its log to `copy` and its log. Throws if the process does not have exactly one store open, or writes to
 * it.
 */
export function copyOpenFiles(pid: number, copy: string): void {
  if (process.platform !== 'linux') throw new Error('the open files of a process can be read only on Linux')
  const before = openFiles(pid)
  const database = theOnly(before, 'database', pid)
  if (!database) throw new Error('it has no database open')
  const log = theOnly(before, 'log', pid)
  copyFileSync(database.path, copy)
  if (log) copyFileSync(log.path, `${copy}-wal`)
  const after = openFiles(pid)
  const isSame = before.every(({ path, state }) => after.some(each => each.path === path && each.state === state))
  if (!isSame) throw new Error('its engine still writes to it: back it up by its path, without --pid')
}

function theOnly(files: readonly OpenFile[], kind: OpenFile['kind'], pid: number): OpenFile | undefined {
  const [first, ...others] = files.filter(file => file.kind === kind)
  if (others.length === 0) return first
  throw new Error(`process ${pid} has more than one ${kind} open`)
}

/** Lists each open database and log once, however often it is open. */
function openFiles(pid: number): OpenFile[] {
  const folder = `/proc/${pid}/fd`
  const found = new Map<string, OpenFile>()
  for (const handle of namesIn(folder, pid)) {
    const path = join(folder, handle)
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats?.isFile()) continue
    const kind = kindOf(path)
    const state = `${stats.size} ${stats.mtimeNs}`
    if (kind) found.set(`${stats.dev}:${stats.ino}`, { path, kind, state })
  }
  return [...found.values()]
}

function namesIn(folder: string, pid: number): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such process here' : (cause as Error).message
    throw new Error(`process ${pid}: ${reason}`, { cause })
  }
}

function kindOf(path: string): OpenFile['kind'] | undefined {
  const bytes = firstBytes(path, DATABASE.length)
  if (bytes.equals(DATABASE)) return 'database'
  return LOGS.includes(bytes.readUInt32BE(0)) ? 'log' : undefined
}
