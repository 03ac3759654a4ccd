// What a SQL database must do for the store: the seam between what every dialect shares and one database's driver.

import type { Claim, DeliveryClaim, Pruning } from '../../../ports/store.ts'
import type { Check, Op, Query, Row } from '../tables/operations.ts'

/** A claimed run as rows. */
export interface ClaimedRun {
  run: Row
  steps: Row[]
  rootLogged: number
}

/** Its database compares text by bytes, and has the functions of text-search.ts as `text_has` and `json_has`. */
export interface SqlDriver {
  /**
   * Makes the operations durable if every check holds. Resolves once they are, or with the index of a check that
   * does not hold, and then nothing is written.
   */
  commit(unit: { checks: Check[]; ops: Op[] }): Promise<number | undefined>
  claimRuns(claim: Claim): Promise<ClaimedRun[]>
  /** Rows of `SELECT_DELIVERY`, each with the status before the claim behind it. */
  claimDeliveries(claim: DeliveryClaim): Promise<Row[]>
  /** Rows of `FLOW_COLUMNS`. */
  claimTimers(claim: Claim): Promise<Row[]>
  /** Answers the ids of the runs whose lease was lost. */
  extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]>
  releaseOthers(owner: string, now: number): Promise<void>
  /** Answers how many rows of the kind went. */
  prune(pruning: Pruning): Promise<number>
  /** The rows of each query, all of them seen at one moment, after every commit that has resolved. */
  read(queries: Query[]): Promise<Row[][]>
  /** Writes a little, durably. */
  probe(): Promise<void>
  close(): Promise<void>
}
