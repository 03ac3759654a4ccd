// One connection to a SQLite database, and its statements, each prepared once. Text crosses to its stored form and
// back here, and nowhere else.

import { fromStored, toStored } from '../description/stored-text.ts'
import type { Row, Value } from '../description/values.ts'
import { jsonHas, textHas } from '../reads/text-search.ts'
import { type Database, loadSqlite, type PreparedStatement } from './module.ts'

/** How long a statement waits for a lock that somebody outside the engine (a backup, a shell) holds. */
const BUSY_TIMEOUT_MS = 5000

/**
 * FULL: a commit that was acknowledged survives a power loss (NORMAL loses it). A checkpoint writes back at most
 * 32 MiB. Foreign keys are off: rows are written only by units that know what they refer to.
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

/** The list of runs alone has thousands of statements: each set of filters in each order is one. */
const STATEMENTS_MAX = 500

const READER_SETUP = `
PRAGMA query_only = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -32768;`

export class Connection {
  /** Held for as long as the connection lives: its statements alone do not keep it from being collected. */
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()

  private constructor(database: Database) {
    this.#database = database
  }

  static async open(file: string, options: { readOnly: boolean }): Promise<Connection> {
    const { DatabaseSync } = await loadSqlite()
    const connection = new Connection(new DatabaseSync(file, options))
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};`)
    connection.exec(options.readOnly ? READER_SETUP : WRITER_SETUP)
    connection.#define('text_has', textHas)
    connection.#define('json_has', jsonHas)
    return connection
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  /** The statement of that SQL, prepared at its first use and kept, until many others have come. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      if (this.#statements.size >= STATEMENTS_MAX) this.#dropOldest()
      statement = new Statement(this.#database.prepare(sql))
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Whoever still holds it can go on using it. */
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

  close(): void {
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

  /** How many rows it changed. */
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

function restore(row: Row): void {
  for (let i = 0; i < row.length; i++) {
    const value = row[i]
    if (typeof value === 'string') row[i] = fromStored(value)
  }
}
