// The SQL driver for SQLite: turns what the store asks into requests for the writer and the reader.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Claim, DeliveryClaim } from '../../../ports/store.ts'
import type { ClaimedRun, SqlDriver } from '../driver.ts'
import type { Check, Op, Query, Row } from '../operations.ts'
import type { BatchQueue } from './batch-queue.ts'
import {
  claimDeliveriesRequest,
  claimRunsRequest,
  claimTimersRequest,
  extendRequest,
  probeRequest,
  type Request,
  readRequest,
  releaseRequest,
  unitRequest,
} from './requests.ts'

/** Operations of a unit from which on the event loop goes on between making a request of it and sending that. */
const LONG_UNIT = 1000

export class SqliteDriver implements SqlDriver {
  readonly #writer: BatchQueue
  readonly #reader: BatchQueue
  readonly #release: () => void
  #closing: Promise<void> | undefined

  /** `release` lets go of the file, once everything is closed. */
  constructor(options: { writer: BatchQueue; reader: BatchQueue; release: () => void }) {
    this.#writer = options.writer
    this.#reader = options.reader
    this.#release = options.release
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

  read(queries: Query[]): Promise<Row[][]> {
    return this.#reader.submit(readRequest(queries), { refusable: true })
  }

  async probe(): Promise<void> {
    await this.#write(probeRequest())
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([this.#reader.stop(), this.#writer.stop()])
      // The reader first: the writer's last checkpoint then has the file to itself.
      await this.#reader.close()
      await this.#writer.close()
      this.#release()
    })()
    return this.#closing
  }

  /** Work of the engine's own, which is never refused. */
  #write<T>(request: Request): Promise<T> {
    return this.#writer.submit<T>(request, { refusable: false })
  }
}
