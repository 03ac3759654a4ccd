// A writer of a database: makes batches of requests durable, one transaction each (group commit). Runs in the writer thread. For
// commits that stand alone (batches/lone-commits.ts) and for a database in memory, it runs in the calling thread.

import {
  type Answer,
  type BatchAnswer,
  type Failure,
  isUnit,
  type Request,
  type Task,
  type UnitRequest,
} from '../batches/requests.ts'
import { dropClaims } from '../claims/drop-claims.ts'
import { prune } from '../claims/prune.ts'
import { releaseOthers } from '../claims/release.ts'
import type { Row, Value } from '../description/values.ts'
import { countEnds } from '../rollups/count-ends.ts'
import { claimStore } from './claim.ts'
import { claimDeliveries, claimTimers, extendRuns } from './claims.ts'
import type { Connection } from './connection.ts'
import { migrate } from './migrations.ts'
import { latestTime, moveTimes, wakeStranded } from './move-times.ts'
import { breaks, failure } from './result-codes.ts'
import { RunClaims } from './run-claims.ts'
import { runWork } from './run-work.ts'
import { Statements } from './statements.ts'
import { type Loss, type OpenedFiles, openedFiles, StoreGuard } from './store-guard.ts'

export interface WriterOptions {
  /** The files of the engine's store; absent: the database is in memory, or belongs to a command. */
  opened?: OpenedFiles
  /** At the end, the log is emptied into the database, and the engine's claim ends. */
  writesLogBack?: boolean
}

export class Writer {
  readonly #connection: Connection
  readonly #statements: Statements
  readonly #runClaims: RunClaims
  readonly #guard: StoreGuard | undefined
  readonly #writesLogBack: boolean
  #transactions = 0
  #broken: string | undefined
  #isLost = false

  constructor(connection: Connection, { opened, writesLogBack = true }: WriterOptions = {}) {
    this.#connection = connection
    this.#guard = opened && new StoreGuard(opened)
    this.#writesLogBack = writesLogBack
    this.#statements = new Statements(connection)
    this.#runClaims = new RunClaims(connection)
  }

  /**
   * Executes all requests in order, in one durable transaction. If one meets an unexpected error, all are rolled back and
   * executed again in a transaction each, so that only that one fails.
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
    if (this.#isLost) result.isLost = true
    return result
  }

  /** `isBroken`: another connection met an error after which the database is unreliable. */
  close(isBroken = false): void {
    // The next start recovers what a broken database contains.
    if (this.#writesLogBack && this.#broken === undefined && !isBroken) {
      this.#guard?.endClaim(this.#connection)
      this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    }
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
      const loss = this.#guard?.check(this.#connection)
      if (loss) return this.#lost(loss)
      answers = batch.map(request => this.#execute(request))
    } catch (error) {
      this.#connection.rollback()
      return this.#failed(error)
    }
    return this.#commit(answers)
  }

  /**
   * The effect of a failed commit on the disk is unknown, and a second fsync may falsely report success: the failure is final.
   */
  #commit(answers: Answer[]): Answer[] | Failure {
    try {
      this.#connection.prepare('COMMIT').run([])
      this.#transactions++
      return answers
    } catch (error) {
      const failed = failure(error)
      this.#broken = failed.failed
      this.#connection.rollback()
      return { ...failed, unavailable: true }
    }
  }

  /** The store no longer belongs to this engine: writes nothing but the contents of its removed log. */
  #lost({ message, isLogAlone }: Loss): Failure {
    this.#connection.rollback()
    if (isLogAlone) this.#connection.exec('PRAGMA wal_checkpoint(FULL)')
    this.#broken = message
    this.#isLost = true
    return { failed: message, unavailable: true }
  }

  #failed(error: unknown): Failure {
    const failed = failure(error)
    if (breaks(error)) this.#broken = failed.failed
    return failed
  }

  #execute(request: Request): Answer {
    return isUnit(request) ? this.#unit(request) : this.#perform(request)
  }

  #perform(task: Task): Answer {
    switch (task.type) {
      case 'claimRuns':
        return this.#runClaims.claim(task.claim)
      case 'claimDeliveries':
        return claimDeliveries(this.#connection, task.claim)
      case 'claimTimers':
        return claimTimers(this.#connection, task.claim)
      case 'extendLeases':
        return extendRuns(this.#connection, task)
      case 'releaseOthers':
        return runWork(this.#connection, releaseOthers(task.owner, task.now))
      case 'prune':
        return runWork(this.#connection, prune(task.pruning))
      case 'dropClaims':
        return runWork(this.#connection, dropClaims(task.claims))
      case 'countEnds':
        return runWork(this.#connection, countEnds(task.ends))
      case 'moveTimes':
        return runWork(this.#connection, moveTimes(task))
      case 'wakeStranded':
        return runWork(this.#connection, wakeStranded(task))
      case 'latestTime':
        return runWork(this.#connection, latestTime())
      case 'probe':
        return this.#connection.prepare('UPDATE probes SET count = count + 1').run([])
    }
  }

  /** Returns null when the unit is written, or the index of a check that does not hold: then nothing is written. */
  #unit(request: UnitRequest): number | null {
    const checks = request[0] as number
    let at = 1
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
      this.#statements.operation(request[at + 1] as string)(request.slice(at + 2, end))
      at = end
    }
    return null
  }
}

/** Claims the file for the engine with this lock, brings its schema up to date, and opens its writer. */
export function openWriter(
  connection: Connection,
  { file, lock }: { file: string; lock: string },
): { server: Writer; opened: OpenedFiles } {
  const opened = openedFiles(file, claimStore(connection, file, lock))
  migrate(connection)
  return { server: new Writer(connection, { opened }), opened }
}

/** Whether the rows are the expected ones, in any order; `expected` has the values of all rows in sequence. */
function isSame(rows: readonly Row[], expected: readonly Value[]): boolean {
  const width = rows[0]?.length ?? 1
  if (rows.length * width !== expected.length) return false
  if (rows.length <= 1) return expected.every((value, i) => value === rows[0]?.[i])
  const wanted = new Set<string>()
  for (let i = 0; i < expected.length; i += width) wanted.add(JSON.stringify(expected.slice(i, i + width)))
  return rows.every(row => wanted.delete(JSON.stringify(row)))
}
