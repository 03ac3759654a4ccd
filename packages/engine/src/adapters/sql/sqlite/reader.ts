// The reader of a database. Answers batches of requests; all queries of a request see the database at the same moment. Runs in
// the reader thread, or in the calling thread for a database in memory.

import type { Answer, BatchAnswer, ReadRequest, Request } from '../batches/requests.ts'
import { charsOf } from '../claims/claim-bounds.ts'
import type { Row } from '../description/values.ts'
import type { Connection } from './connection.ts'
import { failure } from './result-codes.ts'

/**
 * A batch ends with the answer that takes its texts over this many characters; the next batch continues with the following
 * requests.
 */
const ANSWERED_CHARS_MAX = 4 * 1024 * 1024

export class Reader {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  run(batch: readonly Request[]): BatchAnswer {
    this.#connection.exec('BEGIN')
    try {
      const answers: Answer[] = []
      let chars = 0
      for (const request of batch) {
        const answer = this.#answer(request as ReadRequest)
        answers.push(answer)
        if (Array.isArray(answer)) for (const rows of answer) chars += charsOf(rows)
        if (chars > ANSWERED_CHARS_MAX) break
      }
      return { answers, transactions: 1 }
    } finally {
      this.#connection.exec('COMMIT')
    }
  }

  close(): void {
    this.#connection.close()
  }

  #answer(request: ReadRequest): Answer {
    try {
      const answers: Row[][] = []
      for (let at = 0; at < request.length; ) {
        const [sql, count] = request.slice(at, at + 2) as [string, number]
        answers.push(this.#connection.prepare(sql).all(request.slice(at + 2, at + 2 + count)))
        at += 2 + count
      }
      return answers
    } catch (error) {
      return failure(error)
    }
  }
}
