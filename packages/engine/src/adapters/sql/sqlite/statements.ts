// Every row operation and every check as prepared statements of SQLite. The writer looks them up by name.

import type { Value } from '../description/values.ts'
import { type CheckName, checkSql, GUARD_CHECKS } from '../write/guard-checks.ts'
import { MUST_CHANGE, OPERATIONS, type OperationName, WAKE } from '../write/statements.ts'
import type { Connection, Statement } from './connection.ts'

type Operation = (params: Value[]) => void

/** The prepared statements of one connection. */
export class Statements {
  readonly #operations: Map<string, Operation>
  readonly #checks: Map<string, Statement>

  constructor(connection: Connection) {
    const prepare = (sql: string) => connection.prepare(untyped(sql))
    const operations: Record<OperationName, Operation> = { ...singles(prepare), 'step.wake': wake(prepare) }
    const checks = Object.entries(GUARD_CHECKS).map(
      ([name, check]) => [name as CheckName, prepare(checkSql(check))] as const,
    )
    this.#operations = new Map(Object.entries(operations))
    this.#checks = new Map(checks)
  }

  operation(name: string): Operation {
    return known(this.#operations.get(name), name)
  }

  check(name: string): Statement {
    return known(this.#checks.get(name), name)
  }
}

type Prepare = (sql: string) => Statement

function singles(prepare: Prepare): Record<keyof typeof OPERATIONS, Operation> {
  const entries = Object.entries(OPERATIONS).map(([name, sql]) => [name, single(prepare(sql), name as OperationName)])
  return Object.fromEntries(entries) as Record<keyof typeof OPERATIONS, Operation>
}

function single(statement: Statement, name: OperationName): Operation {
  if (!MUST_CHANGE.has(name)) return params => void statement.run(params)
  return params => {
    if (statement.run(params) === 0) throw new Error(`${name} met no row it may change`)
  }
}

function wake(prepare: Prepare): Operation {
  const [step, frame, run] = [prepare(WAKE.step), prepare(WAKE.frame), prepare(WAKE.run)]
  return params => {
    if (step.run(params) === 0) return
    const timeAndRun = params.slice(WAKE.timeIndex, WAKE.timeIndex + 2)
    frame.run(timeAndRun)
    run.run(timeAndRun)
  }
}

/** SQLite's placeholders have no types. */
export function untyped(sql: string): string {
  return sql.replace(/\?[ir]\b/g, '?')
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`no statement for ${name}`)
  return found
}
