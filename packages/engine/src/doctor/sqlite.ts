// Examines the disk and the file of a SQLite store. Writes its own small file next to the store, and removes it.

import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Connection } from '../adapters/sql/sqlite/connection.ts'
import { lostDatabase, openToOthers } from '../adapters/sql/sqlite/files/store-files.ts'
import { SCHEMA_VERSION, schemaVersion } from '../adapters/sql/sqlite/migrations.ts'
import { error, type Finding, type Findings, ok, reasonOf, warning } from './finding.ts'

export interface StoredKeys {
  live: number
  made: number
}

const FREE_MIB_WARN = 1024
const FREE_MIB_MIN = 100
const SYNCS = 10
const SYNC_MS_WARN = 20

/** Network file systems by their number in the operating system. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
])
const TMPFS = 0x01021994

export async function* examineDisk(file: string): Findings {
  const directory = nearest(dirname(resolve(file)))
  const { type, bavail, bsize } = await statfs(directory)
  const network = NETWORK.get(type)
  if (network)
    yield error(
      'store.filesystem',
      `${directory} is on ${network}, where SQLite's locks are unreliable: use a local disk or PostgreSQL`,
    )
  else if (type === TMPFS) yield warning('store.filesystem', `${directory} is in memory: it is empty after a restart`)
  else yield ok('store.filesystem', `${directory} is on a local file system`)
  const freeMib = Math.floor((bavail * bsize) / 2 ** 20)
  const free = `${freeMib} MiB are free in ${directory}`
  if (freeMib < FREE_MIB_MIN) yield error('store.space', free)
  else if (freeMib < FREE_MIB_WARN) yield warning('store.space', free)
  else yield ok('store.space', free)
  yield syncTime(directory)
  const advice = openToOthers(resolve(file))
  if (advice === undefined) yield ok('store.permissions', 'no other user of this machine can open the store')
  else yield warning('store.permissions', advice)
}

/** Returns the state of the file, and the number of its API keys. A missing file is not a fault. */
export async function examineFile(file: string): Promise<{ finding: Finding; keys?: StoredKeys }> {
  const lost = lostDatabase(resolve(file))
  if (lost !== undefined) return { finding: error('store', lost) }
  if (!existsSync(file))
    return { finding: ok('store', `${file} does not exist yet: the engine creates it when it starts`) }
  try {
    const connection = await Connection.open(file, { readOnly: true })
    try {
      const version = schemaVersion(connection)
      const finding = judged(file, version)
      if (version === 0) return { finding }
      const [row] = connection.prepare('SELECT count(*) - count(revoked_at), count(*) FROM api_keys').all([])
      const [live, made] = row as [number, number]
      return { finding, keys: { live, made } }
    } finally {
      connection.close()
    }
  } catch (cause) {
    return { finding: error('store', `${file} cannot be read: ${reasonOf(cause)}`) }
  }
}

/** Judges whether this version can work on a readable store. */
export function judged(store: string, version: number, known = SCHEMA_VERSION): Finding {
  if (version > known)
    return error(
      'store',
      `${store} has schema version ${version}, but this engine supports only versions up to ${known}: use a newer engine`,
    )
  if (version < known)
    return ok('store', `${store} has schema version ${version}: the engine migrates it to ${known} when it starts`)
  return ok('store', `${store} has schema version ${version}`)
}

function syncTime(directory: string): Finding {
  const probe = join(directory, `.perdure-doctor-${process.pid}`)
  try {
    const handle = openSync(probe, 'w', 0o600)
    try {
      const times = Array.from({ length: SYNCS }, () => timed(handle)).sort((a, b) => a - b)
      const ms = times[SYNCS / 2] as number
      const text = `an fsync in ${directory} takes ${ms.toFixed(2)} ms`
      return ms > SYNC_MS_WARN ? warning('store.fsync', `${text}: every commit waits for one`) : ok('store.fsync', text)
    } finally {
      closeSync(handle)
      rmSync(probe, { force: true })
    }
  } catch (cause) {
    return error('store.fsync', `${directory} cannot be written to: ${reasonOf(cause)}`)
  }
}

function timed(handle: number): number {
  const begunAt = performance.now()
  writeSync(handle, Buffer.alloc(8192, 1), 0, 8192, 0)
  fsyncSync(handle)
  return performance.now() - begunAt
}

/** The directory, or the nearest one above it that exists. */
function nearest(directory: string): string {
  return existsSync(directory) ? directory : nearest(dirname(directory))
}
