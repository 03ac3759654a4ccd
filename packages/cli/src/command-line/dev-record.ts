// `perdure dev` records its address and its store in `.perdure/dev.json` while it runs, so that other commands in the same folder
// find both.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The default stores of `perdure dev` and of `perdure serve`. */
export const DEV_STORE = 'sqlite:./.perdure/dev.db'
const DEV_FILE = '.perdure/dev.db'
const SERVE_FILE = '.perdure/engine.db'

/** Where to find a `perdure dev` that runs in this folder. */
export interface DevRecord {
  pid: number
  url: string
  /** In the form of `ENGINE_STORE`. Absent for stores whose address may contain a password: they are in variables anyway. */
  store?: string
}

const fileIn = (directory: string) => join(directory, '.perdure', 'dev.json')

/** Writes the record; returns the function that removes it. */
export function recordDev(record: DevRecord, directory = process.cwd()): () => void {
  const file = fileIn(directory)
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, JSON.stringify(record), { mode: 0o600 })
  } catch {
    // If the folder is not writable, other commands need --url and --store.
  }
  return () => {
    if (runningDev(directory)?.pid === record.pid) rmSync(file, { force: true })
  }
}

/** Finds the `perdure dev` that runs in the folder. */
export function runningDev(directory = process.cwd()): DevRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(fileIn(directory), 'utf8')) as DevRecord
    process.kill(record.pid, 0)
    return record
  } catch {
    // There is none, or it was killed and left its record.
    return undefined
  }
}

/**
 * The store of `perdure dev`, for commands without a store option: of the one that runs in this folder, else of an earlier one,
 * unless `perdure serve` has a store.
 */
export function storeOfDev(directory = process.cwd()): string | undefined {
  const running = runningDev(directory)
  if (running) return running.store
  const isOnly = existsSync(join(directory, DEV_FILE)) && !existsSync(join(directory, SERVE_FILE))
  return isOnly ? DEV_STORE : undefined
}
