// Every row operation and every check as prepared statements of SQLite. Looked up by the writer for each operation.

import type { OpName, Value } from '../tables/operations.ts'
import { CHECK_SQL, MUST_CHANGE, OP_SQL, WAKE_SQL } from '../write/statements.ts'
import type { Connection, Statement } from './connection.ts'

/** The prepared statements of one connection. */
export class Statements {
  readonly #ops: Map<string, (params: Value[]) => void>
  readonly #checks: Map<string, Statement>

  constructor(connection: Connection) {
    this.#ops = new Map(
      Object.entries(OP_SQL).map(([name, sql]) => [
        name,
        single(connection.prepare(untyped(sql)), name as OpName),
      ]),
    )
    this.#ops.set('step.wake', wake(connection))
    this.#checks = new Map(
      Object.entries(CHECK_SQL).map(([name, sql]) => [name, connection.prepare(untyped(sql))]),
    )
  }

  op(name: string): (params: Value[]) => void {
    return known(this.#ops.get(name), name)
  }

  check(name: string): Statement {
    return known(this.#checks.get(name), name)
  }
}

function single(statement: Statement, name: OpName): (params: Value[]) => void {
  if (!MUST_CHANGE.has(name)) return params => void statement.run(params)
  return params => {
    if (statement.run(params) === 0) throw new Error(`${name} met no row it may change`)
  }
}

function wake(connection: Connection): (params: Value[]) => void {
  const [step, frame, run] = [WAKE_SQL.step, WAKE_SQL.frame, WAKE_SQL.run].map(sql =>
    connection.prepare(untyped(sql)),
  ) as [Statement, Statement, Statement]
  return params => {
    if (step.run(params) === 0) return
    const [at, runId] = params.slice(4) as [number, string]
    frame.run([at, runId])
    run.run([at, runId])
  }
}

/** SQLite's placeholders take whatever comes. */
export function untyped(sql: string): string {
  return sql.replace(/\?[ir]\b/g, '?')
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`no statement for ${name}`)
  return found
}
