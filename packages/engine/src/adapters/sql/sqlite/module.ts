// Loads SQLite: Node's built-in module where it is new enough, else the same API from a package with prebuilt binaries. Called
// when a connection is opened, in any thread.

/** The part of the `node:sqlite` API used here. */
export interface SqliteModule {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => Database
  /** Copies the database into a file, in its own thread, `rate` pages at a time. */
  backup(source: Database, path: string, options: { rate: number }): Promise<number>
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): PreparedStatement
  function(
    name: string,
    options: { deterministic: boolean; varargs: boolean },
    fn: (...args: unknown[]) => number,
  ): void
  close(): void
}

export interface PreparedStatement {
  run(...params: unknown[]): { changes: number | bigint }
  all(...params: unknown[]): unknown[]
  setReturnArrays(enabled: boolean): void
}

/** Before 3.51.3 a WAL reset that races another connection can corrupt the database. */
const VERSION_MIN = [3, 51, 3]

export async function loadSqlite(): Promise<SqliteModule> {
  // A variable keeps bundlers and Node 20's types from looking for it.
  const builtIn = 'node:sqlite'
  if (isNewEnough(process.versions.sqlite)) return (await import(builtIn)) as SqliteModule
  return (await import('@photostructure/sqlite')) as unknown as SqliteModule
}

function isNewEnough(version: string | undefined): boolean {
  if (version === undefined) return false
  const parts = version.split('.').map(Number)
  for (const [i, min] of VERSION_MIN.entries()) {
    const part = parts[i] ?? 0
    if (part !== min) return part > min
  }
  return true
}
