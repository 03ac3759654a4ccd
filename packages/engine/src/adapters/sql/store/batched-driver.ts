// The writing half of a SQL driver: turns what the store asks into requests that share batches, and so transactions.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Claim, DeliveryClaim, Pruning } from '../../../ports/store.ts'
import type { BatchQueue } from '../batches/batch-queue.ts'
import {
  claimDeliveriesRequest,
  claimRunsRequest,
  claimTimersRequest,
  extendRequest,
  probeRequest,
  pruneRequest,
  type Request,
  releaseRequest,
  unitRequest,
} from '../batches/requests.ts'
import type { Check, Op, Query, Row } from '../tables/operations.ts'
import type { ClaimedRun, SqlDriver } from './driver.ts'

/** Operations of a unit from which on the event loop goes on between making a request of it and sending that. */
const LONG_UNIT = 1000

export abstract class BatchedDriver implements SqlDriver {
  readonly #writer: BatchQueue

  constructor(writer: BatchQueue) {
    this.#writer = writer
  }

  async commit(unit: { checks: Check[]; ops: Op[] }): Promise<number | undefined> {
    const request = unitRequest(unit)
    // Weighing and posting it takes as long again.
    if (unit.ops.length > LONG_UNIT) await nextTurn()
    const failed = await this.#writer.submit<number | null>(request, { refusable: true })
    return failed ?? undefined
  }

  claimRuns(claim: Claim): Promise<ClaimedRun[]> {
    return this.#write(claimRunsRequest(claim))
  }

  claimDeliveries(claim: DeliveryClaim): Promise<Row[]> {
    return this.#write(claimDeliveriesRequest(claim))
  }

  claimTimers(claim: Claim): Promise<Row[]> {
    return this.#write(claimTimersRequest(claim))
  }

  async extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]> {
    return runIds.length === 0 ? [] : this.#write(extendRequest(owner, runIds, until))
  }

  async releaseOthers(owner: string, now: number): Promise<void> {
    await this.#write(releaseRequest(owner, now))
  }

  prune(pruning: Pruning): Promise<number> {
    return this.#write(pruneRequest(pruning))
  }

  async probe(): Promise<void> {
    await this.#write(probeRequest())
  }

  abstract read(queries: Query[]): Promise<Row[][]>
  abstract close(): Promise<void>

  /** Work of the engine's own, which is never refused. */
  #write<T>(request: Request): Promise<T> {
    return this.#writer.submit<T>(request, { refusable: false })
  }
}
