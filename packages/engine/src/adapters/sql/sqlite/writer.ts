// The one writer of a database: makes batches of requests durable, one transaction each (group commit). Runs in the
// writer thread, or in the calling thread for a database in memory.

import {
  type Answer,
  type BatchAnswer,
  type Failure,
  type Request,
  readClaim,
  readDeliveryClaim,
  readPruning,
} from '../batches/requests.ts'
import { prune } from '../claims/prune.ts'
import { releaseOthers } from '../claims/release.ts'
import type { Row, Value } from '../tables/operations.ts'
import type { Connection } from './connection.ts'
import { claimDeliveries } from './delivery-claims.ts'
import { extendRuns } from './leases.ts'
import { RunClaims } from './run-claims.ts'
import { answered } from './run-work.ts'
import { Statements } from './statements.ts'
import { claimTimers } from './timer-claims.ts'

export class Writer {
  readonly #connection: Connection
  readonly #statements: Statements
  readonly #runClaims: RunClaims
  #transactions = 0
  #broken: string | undefined

  constructor(connection: Connection) {
    this.#connection = connection
    this.#statements = new Statements(connection)
    this.#runClaims = new RunClaims(connection)
  }

  /**
   * All requests in order, in one durable transaction. When one meets an unexpected error, all are rolled back and
   * run again in a transaction each, so that only that one fails.
   */
  run(batch: readonly Request[]): BatchAnswer {
    const before = this.#transactions
    let answers = this.#transact(batch)
    if (!Array.isArray(answers) && batch.length > 1 && !answers.unavailable) {
      answers = batch.flatMap(request => this.#each([request]))
    }
    const result: BatchAnswer = {
      answers: Array.isArray(answers) ? answers : batch.map(() => answers),
      transactions: this.#transactions - before,
    }
    if (this.#broken !== undefined) result.broken = this.#broken
    return result
  }

  close(): void {
    // What a broken database holds is for the next start to recover.
    if (this.#broken === undefined) this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#connection.close()
  }

  #each(single: readonly [Request]): Answer[] {
    const answers = this.#transact(single)
    return Array.isArray(answers) ? answers : [answers]
  }

  #transact(batch: readonly Request[]): Answer[] | Failure {
    if (this.#broken !== undefined) return { failed: this.#broken, unavailable: true }
    try {
      this.#connection.prepare('BEGIN IMMEDIATE').run([])
    } catch (error) {
      return failure(error)
    }
    let answers: Answer[]
    try {
      answers = batch.map(request => this.#execute(request))
    } catch (error) {
      this.#rollback()
      return this.#judged(error)
    }
    return this.#commit(answers)
  }

  /** Nobody knows what a failed commit left on disk, and a second fsync may lie: nothing is tried again. */
  #commit(answers: Answer[]): Answer[] | Failure {
    try {
      this.#connection.prepare('COMMIT').run([])
      this.#transactions++
      return answers
    } catch (error) {
      const failed = failure(error)
      this.#broken = failed.failed
      this.#rollback()
      return { ...failed, unavailable: true }
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec('ROLLBACK')
    } catch {
      // Some errors have rolled back already.
    }
  }

  #judged(error: unknown): Failure {
    const failed = failure(error)
    if (BREAKING.has(codeOf(error))) this.#broken = failed.failed
    return failed
  }

  #execute(request: Request): Answer {
    switch (request[0]) {
      case 'unit':
        return this.#unit(request)
      case 'claim runs':
        return this.#runClaims.claim(readClaim(request))
      case 'claim deliveries':
        return claimDeliveries(this.#connection, readDeliveryClaim(request))
      case 'claim timers':
        return claimTimers(this.#connection, request.slice(1) as [string, number, number, number])
      case 'extend':
        return extendRuns(this.#connection, request.slice(1) as [string, number, ...string[]])
      case 'release':
        return answered(this.#connection, releaseOthers(request[1] as string, request[2] as number))
      case 'prune':
        return answered(this.#connection, prune(readPruning(request)))
      case 'probe':
        return this.#connection.prepare('UPDATE probes SET count = count + 1').run([])
      default:
        throw new Error(`no such request: ${request[0]}`)
    }
  }

  /** Null when it is done; the index of a check that does not hold, and then nothing is written. */
  #unit(request: Request): number | null {
    const checks = request[1] as number
    let at = 2
    for (let index = 0; index < checks; index++) {
      const [name, paramCount, expectedCount] = request.slice(at, at + 3) as [string, number, number]
      const params = at + 3
      const expected = params + paramCount
      const rows = this.#statements.check(name).all(request.slice(params, expected))
      at = expected + expectedCount
      if (!isSame(rows, request.slice(expected, at))) return index
    }
    while (at < request.length) {
      const end = at + 2 + (request[at] as number)
      this.#statements.op(request[at + 1] as string)(request.slice(at + 2, end))
      at = end
    }
    return null
  }
}

/** Whether the rows are the expected ones, which come one after the other, in whatever order. */
function isSame(rows: readonly Row[], expected: readonly Value[]): boolean {
  const width = rows[0]?.length ?? 1
  if (rows.length * width !== expected.length) return false
  if (rows.length <= 1) return expected.every((value, i) => value === rows[0]?.[i])
  const wanted = new Set<string>()
  for (let i = 0; i < expected.length; i += width) wanted.add(JSON.stringify(expected.slice(i, i + width)))
  return rows.every(row => wanted.delete(JSON.stringify(row)))
}

/** SQLite's primary result codes. */
const [BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB] = [
  5, 6, 7, 8, 10, 11, 13, 14, 26,
]
const UNAVAILABLE: ReadonlySet<number> = new Set([
  BUSY,
  LOCKED,
  NOMEM,
  READONLY,
  IOERR,
  CORRUPT,
  FULL,
  CANTOPEN,
  NOTADB,
])
/** After these nothing the database says can be relied on. */
const BREAKING: ReadonlySet<number> = new Set([IOERR, CORRUPT, NOTADB])

function failure(error: unknown): Failure {
  const failed = error instanceof Error ? error.message : String(error)
  return { failed, unavailable: UNAVAILABLE.has(codeOf(error)) }
}

function codeOf(error: unknown): number {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' ? code & 0xff : 0
}
