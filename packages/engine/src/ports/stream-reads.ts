// The reads of output streams (docs/streams.md). Used by the routes that show them, and by the engine that writes them.

import type { RunStatus } from '../domain/model/run.ts'
import type { StreamHead, StreamRow } from '../domain/model/stream/stream.ts'

/** Maximum rows in one read; a row has at most the chunks of one append. */
export const STREAM_PAGE_ROWS = 64

export interface StreamName {
  namespace: string
  runId: string
  name: string
}

/** A part of a stream, and the state of its run, all seen at one moment. */
export interface StreamPage {
  status: RunStatus
  continuedAs?: string
  /** Absent while nothing was written. */
  head?: StreamHead
  /** At most `STREAM_PAGE_ROWS` in order, beginning with the row that has the message `from`. */
  rows: StreamRow[]
}

/** The size of a row. */
export interface RowSize extends Pick<StreamRow, 'n' | 'count' | 'step' | 'attempt'> {
  bytes: number
}

export interface StreamReads {
  /** The streams of a run of any namespace, for the engine that drives the run. */
  heads(runId: string): Promise<StreamHead[]>
  /** The streams of a run, in the order of their first chunks; undefined if there is no such run. */
  list(run: Omit<StreamName, 'name'>): Promise<{ status: RunStatus; heads: StreamHead[] } | undefined>
  /** Undefined if there is no such run. */
  page(stream: StreamName, from: number): Promise<StreamPage | undefined>
  /** The rollbacks of the stream, in order. */
  rollbacks(stream: StreamName): Promise<StreamRow[]>
  /** The sizes of the rows of chunks, from the chunk with the number `from`, at most `limit`. */
  sizes(runId: string, name: string, from: number, limit: number): Promise<RowSize[]>
}
