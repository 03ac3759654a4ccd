// One connection to a SQLite database, and its statements, each prepared once. This is the only place that converts text to
// its stored form and back.

import { restore, toStored } from '../description/stored-text.ts'
import type { Row, Value } from '../description/values.ts'
import { jsonHas, textHas } from '../reads/runs/text-search.ts'
import { refuseLostDatabase } from './files/store-files.ts'
import { type Database, loadSqlite, type PreparedStatement } from './module.ts'

/** How long a statement waits for a lock that another program (a backup, a shell) holds. */
const BUSY_TIMEOUT_MS = 5000

/**
 * FULL: a commit that was acknowledged survives a power loss (NORMAL loses it). A checkpoint writes back at most 32 MiB. Foreign
 * keys are off: only units write rows, and they know which rows these refer to; `verify` checks it.
 */
const WRITER_SETUP = `
PRAGMA page_size = 8192;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 67108864;
PRAGMA foreign_keys = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;`

/** Bounded, because the list of runs alone has thousands of statements: one for each set of filters in each order. */
const STATEMENTS_MAX = 500

const READER_SETUP = `
PRAGMA query_only = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -32768;`

export class Connection {
  /** The connection must reference the database: statements alone do not protect it from garbage collection. */
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()

  private constructor(database: Database) {
    this.#database = database
  }

  /** Throws if the database was lost: SQLite would delete its log, even on a connection that only reads. */
  static async open(file: string, options: { readOnly: boolean }): Promise<Connection> {
    refuseLostDatabase(file)
    const { DatabaseSync } = await loadSqlite()
    const connection = new Connection(new DatabaseSync(file, options))
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};`)
    connection.exec(options.readOnly ? READER_SETUP : WRITER_SETUP)
    connection.#define('text_has', textHas)
    connection.#define('json_has', jsonHas)
    return connection
  }

  /** Opens a connection for one use. */
  static async use<T>(file: string, options: { readOnly: boolean }, use: (connection: Connection) => T): Promise<T> {
    const connection = await Connection.open(file, options)
    try {
      return use(connection)
    } finally {
      connection.close()
    }
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  /** Ends the transaction, if there is one; some errors have ended it already. */
  rollback(): void {
    try {
      this.exec('ROLLBACK')
    } catch {
      // There is none.
    }
  }

  /** Returns the statement for the SQL, prepared at its first use and kept until many others were prepared. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      if (this.#statements.size >= STATEMENTS_MAX) this.#dropOldest()
      statement = new Statement(this.#database.prepare(sql))
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** A caller that still has the statement can continue to use it. */
  #dropOldest(): void {
    for (const sql of this.#statements.keys()) {
      this.#statements.delete(sql)
      return
    }
  }

  #define(name: string, has: (needle: string, texts: (string | null)[]) => boolean): void {
    this.#database.function(name, { deterministic: true, varargs: true }, (needle, ...texts) =>
      has(needle as string, texts as (string | null)[]) ? 1 : 0,
    )
  }

  /** Ends the transaction first: until its statements are collected, SQLite keeps a closed connection and its locks. */
  close(): void {
    this.rollback()
    this.#statements.clear()
    this.#database.close()
  }
}

export class Statement {
  readonly #prepared: PreparedStatement

  constructor(prepared: PreparedStatement) {
    this.#prepared = prepared
    prepared.setReturnArrays(true)
  }

  /** Returns how many rows the statement changed. */
  run(params: readonly Value[]): number {
    return Number(this.#prepared.run(...stored(params)).changes)
  }

  all(params: readonly Value[]): Row[] {
    const rows = this.#prepared.all(...stored(params)) as Row[]
    for (const row of rows) restore(row)
    return rows
  }
}

function stored(params: readonly Value[]): readonly Value[] {
  let changed: Value[] | undefined
  for (let i = 0; i < params.length; i++) {
    const value = params[i]
    if (typeof value !== 'string') continue
    const text = toStored(value)
    if (text === value) continue
    changed ??= [...params]
    changed[i] = text
  }
  return changed ?? params
}
