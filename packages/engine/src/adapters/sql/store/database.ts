// The interface of a SQL database for the store. Each dialect implements it; the store and its administration use it.

import type { LeftRun } from '../../../ports/store.ts'
import type { BatchQueue } from '../batches/batch-queue.ts'
import type { Query, Row } from '../description/values.ts'

/** A claimed run as rows, in the writer's answer. */
export interface ClaimedRun {
  run: Row
  steps: Row[]
  rootLogged: number
}

/** The answer of a writer to a claim of runs. */
export interface ClaimedRuns {
  claimed: ClaimedRun[]
  /** Runs that stay due for lack of memory. */
  left: LeftRun[]
}

/** The database compares text by bytes, and has the functions of reads/runs/text-search.ts as `text_has` and `json_has`. */
export interface Database {
  /** Takes the requests for the writer. */
  readonly writer: BatchQueue
  /** Returns the rows of each query, all seen at one moment, after every commit that has resolved. */
  read(queries: Query[]): Promise<Row[][]>
  /** As `read`, for reads that may take long (reads/scan/scan-queue.ts): the readers of `read` stay free. */
  scan(queries: Query[], signal?: AbortSignal): Promise<Row[][]>
  /** How many scans are carried out at the same time. */
  readonly scansAtOnce: number
  close(): Promise<void>
}
