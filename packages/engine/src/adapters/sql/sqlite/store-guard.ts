// Notices that a store no longer belongs to the engine: its files were removed, replaced or overwritten under the running engine,
// or another engine has claimed the database. Both writers check it in every transaction (writer.ts), and store.ts once a second.

import { openSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { CLAIM_OWNER, END_CLAIM } from './claim.ts'
import type { Connection } from './connection.ts'
import { belongTogether, generationOf } from './files/generation.ts'
import { identityOf } from './files/store-files.ts'

/** Time between two looks at the files under load. A look takes some 10 us. */
const LOOK_EVERY_MS = 50
/** The files of a store as its engine opened them, as plain values, which cross to the writer's thread. */
export interface OpenedFiles {
  file: string
  /** The name of this engine in the claim. */
  owner: string
  /** The handle of the open database file. It stays open: closing it would release the locks that SQLite has on the file. */
  handle: number
  /** The identity of each file, by its path: the database first. */
  identities: readonly (readonly [path: string, identity: string])[]
}

export interface Loss {
  /** One sentence: the event, and the remedy. */
  message: string
  /** The database is intact, and the contents of its removed log can be written back into it. */
  isLogAlone: boolean
}

/** Called in the writer's thread once it has opened the files; the thread closes the handle when it ends. */
export function openedFiles(file: string, owner: string): OpenedFiles {
  const paths = [file, `${file}-wal`, `${file}-shm`]
  return {
    file,
    owner,
    handle: openSync(file, 'r'),
    identities: paths.map(path => [path, identityOf(path) ?? ''] as const),
  }
}

export class StoreGuard {
  readonly #opened: OpenedFiles
  #lookedAt = Number.NEGATIVE_INFINITY
  /** The database's time of change and size at the last look. */
  #seen = ''
  #generation = Number.NEGATIVE_INFINITY

  constructor(opened: OpenedFiles) {
    this.#opened = opened
  }

  /** Returns why the transaction that has just begun must not write; undefined if it may. */
  check(connection: Connection): Loss | undefined {
    const now = performance.now()
    if (now - this.#lookedAt >= LOOK_EVERY_MS) {
      const loss = this.#missing() ?? this.#overwritten(connection)
      if (loss) return loss
      this.#lookedAt = now
    }
    const [[owner] = []] = connection.prepare(CLAIM_OWNER).all([])
    return owner === this.#opened.owner ? undefined : this.#taken()
  }

  /** Records in the database that its engine has ended. */
  endClaim(connection: Connection): void {
    connection.prepare(END_CLAIM).run([this.#opened.owner])
  }

  areFilesThere(): boolean {
    return this.#missing() === undefined
  }

  /** Whether a file is not the opened one, or the database has changed since the last call: a transaction should check. */
  hasNews(): boolean {
    const before = this.#seen
    this.#seen = stateOf(this.#opened.file)
    return this.#seen !== before || !this.areFilesThere()
  }

  /** Returns the loss of a file that is missing at its path, or was replaced; undefined if all are there. */
  #missing(): Loss | undefined {
    for (const [path, identity] of this.#opened.identities) {
      const found = identityOf(path)
      if (found === identity) continue
      const isLogAlone = path !== this.#opened.file
      const what = found === undefined ? 'was removed or renamed' : 'was replaced by another file'
      return { message: this.#sentence(path, what, isLogAlone ? IN_THE_DATABASE : IN_OPEN_FILES), isLogAlone }
    }
    return undefined
  }

  /** Compares the generation in the file with the one in the log (generation.ts), and raises it after a checkpoint. */
  #overwritten(connection: Connection): Loss | undefined {
    const seen = stateOf(this.#opened.file)
    if (seen === this.#seen) return undefined
    const inFile = generationOf(this.#opened.handle)
    const [[inLog]] = connection.prepare('PRAGMA user_version').all([]) as [[number]]
    if (inFile === undefined || inFile < this.#generation || !belongTogether(inFile, inLog)) {
      return { message: this.#sentence(this.#opened.file, 'was overwritten', RESTORE), isLogAlone: false }
    }
    if (inFile === inLog) connection.exec(`PRAGMA user_version = ${inLog + 1}`)
    this.#generation = inFile
    this.#seen = seen
    return undefined
  }

  #sentence(path: string, what: string, remedy: string): string {
    return `${basename(path)} ${what} under the running engine, which accepts no more work: ${remedy}`
  }

  #taken(): Loss {
    const message = `another engine has claimed ${basename(this.#opened.file)}, so this one accepts no more work: stop it`
    return { message, isLogAlone: false }
  }
}

/** Changes with every checkpoint. */
function stateOf(file: string): string {
  const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {}
  return `${mtimeMs} ${size}`
}

const IN_OPEN_FILES =
  `all acknowledged work is only in the open files of process ${process.pid}. Save it before that process ends ` +
  `(perdure backup FILE --pid ${process.pid}), stop the engine, and restore FILE (perdure restore FILE --force)`
const IN_THE_DATABASE = 'all acknowledged work was written back into the database. Restart the engine'
const RESTORE = 'keep a copy of its files, stop the engine, and restore a backup (perdure restore FILE --force)'
