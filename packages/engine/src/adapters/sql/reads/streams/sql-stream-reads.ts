// The reads of output streams on any SQL database.

import type { RunStatus } from '../../../../domain/model/run.ts'
import type { StreamHead, StreamRow } from '../../../../domain/model/stream/stream.ts'
import {
  type RowSize,
  STREAM_PAGE_ROWS,
  type StreamName,
  type StreamPage,
  type StreamReads,
} from '../../../../ports/stream-reads.ts'
import type { Row, Value } from '../../description/values.ts'
import { STREAM_ROWS, STREAMS } from '../../tables/streams/streams.ts'
import type { ReadRows } from '../sql-reads.ts'

const OF_RUN = `SELECT ${STREAMS.select} FROM streams WHERE run_id = ?`
const STATUS = 'SELECT status, continued_as FROM runs WHERE id = ? AND namespace = ?'
/** The row that has the message, or the first one after it, and the rows that follow. */
const PAGE = `SELECT ${STREAM_ROWS.select} FROM stream_rows WHERE run_id = ? AND name = ? AND n >= coalesce(
    (SELECT max(n) FROM stream_rows WHERE run_id = ? AND name = ? AND n <= ?), 0) ORDER BY n LIMIT ${STREAM_PAGE_ROWS}`
const ROLLBACKS = `SELECT ${STREAM_ROWS.select} FROM stream_rows
  WHERE run_id = ? AND name = ? AND withdrawn_from IS NOT NULL ORDER BY n`
const SIZES = `SELECT n, messages, step, attempt, octet_length(chunks) FROM stream_rows
  WHERE run_id = ? AND name = ? AND n >= ? AND chunks IS NOT NULL ORDER BY n LIMIT ?`

export class SqlStreamReads implements StreamReads {
  readonly #read: ReadRows

  constructor(read: ReadRows) {
    this.#read = read
  }

  async heads(runId: string): Promise<StreamHead[]> {
    return (await this.#rows(OF_RUN, [runId])).map(STREAMS.fromRow)
  }

  async list({ namespace, runId }: Omit<StreamName, 'name'>) {
    const [[run], heads] = (await this.#read([
      { sql: STATUS, params: [runId, namespace] },
      { sql: `${OF_RUN} ORDER BY first_at, name`, params: [runId] },
    ])) as [Row[], Row[]]
    return run && { status: run[0] as RunStatus, heads: heads.map(STREAMS.fromRow) }
  }

  async page({ namespace, runId, name }: StreamName, from: number): Promise<StreamPage | undefined> {
    const [[run], [head], rows] = (await this.#read([
      { sql: STATUS, params: [runId, namespace] },
      { sql: `${OF_RUN} AND name = ?`, params: [runId, name] },
      { sql: PAGE, params: [runId, name, runId, name, from] },
    ])) as [Row[], Row[], Row[]]
    if (!run) return undefined
    const [status, continuedAs] = run as [RunStatus, string | null]
    return {
      status,
      ...(continuedAs !== null && { continuedAs }),
      ...(head && { head: STREAMS.fromRow(head) }),
      rows: rows.map(STREAM_ROWS.fromRow).filter(({ n, count }) => n + count > from),
    }
  }

  async rollbacks({ runId, name }: StreamName): Promise<StreamRow[]> {
    return (await this.#rows(ROLLBACKS, [runId, name])).map(STREAM_ROWS.fromRow)
  }

  async sizes(runId: string, name: string, from: number, limit: number): Promise<RowSize[]> {
    const rows = (await this.#rows(SIZES, [runId, name, from, limit])) as [number, number, string, number, number][]
    return rows.map(([n, count, step, attempt, bytes]) => ({ n, count, step, attempt, bytes }))
  }

  async #rows(sql: string, params: Value[]): Promise<Row[]> {
    const [rows] = await this.#read([{ sql, params }])
    return rows as Row[]
  }
}
