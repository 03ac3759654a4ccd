// The reader of a database: answers batches of queries; all queries of a batch see the database at the same moment. Runs in
// the reader thread, or in the calling thread for a database in memory.

import type { Answer, BatchAnswer, ReadRequest, Request } from '../batches/requests.ts'
import type { Row } from '../description/values.ts'
import type { Connection } from './connection.ts'
import { failure } from './result-codes.ts'

export class Reader {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  run(batch: readonly Request[]): BatchAnswer {
    this.#connection.exec('BEGIN')
    try {
      return { answers: batch.map(request => this.#answer(request as ReadRequest)), transactions: 1 }
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
