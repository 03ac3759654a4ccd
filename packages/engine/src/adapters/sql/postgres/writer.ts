// The writer of a PostgreSQL store. Makes batches of requests durable: units with one call of the write function, other tasks in
// a transaction each, all under the single writers' lock. It has one connection; the batch queue calls it with one batch at a
// time.

import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Channel } from '../batches/channel.ts'
import {
  type Answer,
  type BatchAnswer,
  type Failure,
  isFailure,
  isUnit,
  type Request,
  type Task,
  type UnitRequest,
} from '../batches/requests.ts'
import { dropClaims } from '../claims/drop-claims.ts'
import { prune } from '../claims/prune.ts'
import { releaseOthers } from '../claims/release.ts'
import { countEnds } from '../rollups/count-ends.ts'
import { claimDeliveries, claimRuns, claimTimers, extendRuns } from './claims.ts'
import { end, openClient, rowsOf } from './client.ts'
import { isUnavailable, lacksRoom } from './failures.ts'
import { integersOf, textsOf } from './grouped/binary.ts'
import { planOf, planUnitByUnit } from './grouped/plan.ts'
import { answerTo } from './lost-answer.ts'
import { refuseLostConnection } from './pooler.ts'
import { runWork } from './run-work.ts'
import { shareStore } from './use-lock.ts'
import { TAKE_WRITE_LOCK, WRITE_FUNCTION } from './write-function.ts'

/** How often a lost connection is replaced for one batch, and the first pause between attempts; it doubles. */
const RECONNECTS_MAX = 3
const RECONNECT_PAUSE_MS = 100
const CONNECT_MS_MAX = 3000
/** A batch fails this long after its first try; sooner if the store has been unavailable since an earlier batch. */
const TRY_MS_MAX = 8000
const TRY_MS_MAX_WHILE_UNAVAILABLE = 1000
/**
 * The room that a disk must have after it was full: for the largest event and its indexes. Rows of that size are not compressed.
 */
const ROOM_ROW_BYTES = 1900
const ROOM_ROWS = 1200

export interface WriterOptions {
  url: string
  /** The unique name of this writer in the database. */
  name: string
  onError(details: object, message: string): void
}

export class Writer implements Channel {
  readonly #options: WriterOptions
  #client: Client | undefined
  #batch = 0
  /** Why the store cannot be reached; undefined while it can. */
  #unavailable: Failure | undefined
  /** A write found the disk full, and no probe has found room since. */
  #lacksRoom = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /**
   * Executes all requests in their order. A failing request affects no other, but once the store is unreachable all later ones
   * fail too.
   */
  async run(batch: Request[]): Promise<BatchAnswer> {
    const answers: Answer[] = []
    let transactions = 0
    for (let at = 0; at < batch.length; ) {
      if (at > 0 && this.#unavailable) {
        const failure = this.#unavailable
        answers.push(...batch.slice(at).map(() => failure))
        break
      }
      const units = unitsFrom(batch, at)
      const taken = units.length > 0 ? await this.#units(units) : [await this.#perform(batch[at] as Task)]
      answers.push(...taken)
      at += taken.length
      transactions++
    }
    return { answers, transactions }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    if (!client) return
    const removed = rowsOf(client, 'DELETE FROM writers WHERE writer = $1', [this.#options.name])
    await answerTo(client, this.#options.url, removed).catch(() => {})
    await end(client)
  }

  /**
   * Writes units in one call. After an unexpected error the units are written one after the other, again in one call; if one of
   * them meets an error then, each is written by itself.
   */
  async #units(units: UnitRequest[]): Promise<Answer[]> {
    let answers = await this.#write(units, planOf(units))
    if (isFailure(answers) && !answers.unavailable) answers = await this.#write(units, planUnitByUnit(units))
    if (!isFailure(answers)) return answers
    const failure = answers
    if (units.length === 1 || failure.unavailable) return units.map(() => failure)
    const single: Answer[] = []
    for (const unit of units) {
      const answer = await this.#write([unit], planUnitByUnit([unit]))
      single.push(isFailure(answer) ? answer : answer[0])
    }
    return single
  }

  /** Sends the units again under the same batch number when the answer is lost, until an answer arrives. */
  async #write(units: UnitRequest[], plan: readonly number[]): Promise<Answer[] | Failure> {
    const batch = ++this.#batch
    const values = [this.#options.name, batch, textsOf(units), integersOf(plan)]
    const begunAt = performance.now()
    const tryMsMax = this.#unavailable ? TRY_MS_MAX_WHILE_UNAVAILABLE : TRY_MS_MAX
    for (let tries = 0; ; tries++) {
      try {
        return await this.#withClient(client => written(client, values))
      } catch (error) {
        if (lacksRoom(error)) return this.#markLackOfRoom(error)
        if (!isUnavailable(error)) return { failed: (error as Error).message, unavailable: false }
        this.#lost(error)
        // Then it is unknown whether the batch was written: its callers must look.
        if (tries >= RECONNECTS_MAX || performance.now() - begunAt > tryMsMax) return this.#markUnavailable(error)
        await pause(RECONNECT_PAUSE_MS * 2 ** tries)
      }
    }
  }

  /** Executes a task in its own transaction. If its answer is lost, the leases of a claim run out. */
  async #perform(task: Task): Promise<Answer> {
    try {
      const answer = await this.#withClient(client => transaction(client, task))
      if (task.type === 'probe' && this.#lacksRoom) {
        await this.#withClient(findRoom)
        this.#lacksRoom = false
      }
      return answer
    } catch (error) {
      if (isUnavailable(error) && !lacksRoom(error)) {
        this.#lost(error)
        return this.#markUnavailable(error)
      }
      await this.#client?.query('ROLLBACK').catch(lost => this.#lost(lost))
      if (lacksRoom(error)) return this.#markLackOfRoom(error)
      return { failed: (error as Error).message, unavailable: false } satisfies Failure
    }
  }

  /** Returns the result of work on the connection, which is opened if there is none. */
  async #withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    const answer = await answerTo(client, this.#options.url, work(client))
    this.#unavailable = undefined
    return answer
  }

  /** The requests after this one are still tried: smaller writes find room in existing pages. */
  #markLackOfRoom(error: unknown): Failure {
    this.#lacksRoom = true
    return { failed: (error as Error).message, unavailable: true }
  }

  #markUnavailable(error: unknown): Failure {
    this.#unavailable = { failed: (error as Error).message, unavailable: true }
    return this.#unavailable
  }

  async #connect(): Promise<Client> {
    if (this.#client) return this.#client
    let opened: Client | undefined
    // If the connection is lost before it belongs to this writer, the first query fails.
    const client = await openClient(this.#options.url, error => opened && this.#lost(error, opened), {
      connectMsMax: CONNECT_MS_MAX,
      plansOnce: true,
    })
    await shareStore(client).catch(async error => {
      await end(client)
      throw error
    })
    opened = client
    this.#client = client
    return client
  }

  /** Gives the connection up. Ignores errors of a connection that was already replaced. */
  #lost(error: unknown, client = this.#client): void {
    if (client !== this.#client) return
    this.#client = undefined
    this.#options.onError({ err: error }, 'the connection to the store was lost')
    if (client) void end(client)
  }
}

/** Makes one call, which is a transaction. Returns for each unit null, or the index of its check that does not hold. */
async function written(client: Client, values: unknown[]): Promise<(number | null)[]> {
  const { rows } = await client.query<[number[]]>({
    name: WRITE_FUNCTION,
    text: `SELECT ${WRITE_FUNCTION}($1, $2, $3, $4)`,
    values,
    rowMode: 'array',
  })
  return (rows[0] as [number[]])[0].map(failed => (failed === 0 ? null : failed - 1))
}

async function transaction(client: Client, task: Task): Promise<Answer> {
  await client.query('BEGIN')
  await client.query(`SELECT ${TAKE_WRITE_LOCK}`)
  const answer = await execute(client, task)
  await client.query('COMMIT')
  return answer
}

/**
 * Rejects while the disk has no room for a large event. A small write would find room in existing pages, so this makes a table,
 * which takes new pages, and rolls it back.
 */
async function findRoom(client: Client): Promise<void> {
  await client.query('BEGIN')
  await client.query(
    `CREATE TABLE room_probe AS SELECT repeat('x', ${ROOM_ROW_BYTES}) AS filler FROM generate_series(1, ${ROOM_ROWS})`,
  )
  await client.query('ROLLBACK')
}

async function execute(client: Client, task: Task): Promise<Answer> {
  switch (task.type) {
    case 'claimRuns':
      return claimRuns(client, task.claim)
    case 'claimDeliveries':
      return claimDeliveries(client, task.claim)
    case 'claimTimers':
      return claimTimers(client, task.claim)
    case 'extendLeases':
      return extendRuns(client, task)
    case 'releaseOthers':
      return runWork(client, releaseOthers(task.owner, task.now))
    case 'prune':
      return runWork(client, prune(task.pruning))
    case 'dropClaims':
      return runWork(client, dropClaims(task.claims))
    case 'countEnds':
      return runWork(client, countEnds(task.ends))
    case 'moveTimes':
    case 'wakeStranded':
    case 'latestTime':
      throw new Error('the times of a store that engines share are never moved')
    case 'probe':
      await refuseLostConnection(client)
      return rowsOf(client, 'UPDATE probes SET count = count + 1')
  }
}

/** The units that follow each other in the batch from that index on. */
function unitsFrom(batch: readonly Request[], from: number): UnitRequest[] {
  const units: UnitRequest[] = []
  for (let at = from; at < batch.length; at++) {
    const request = batch[at] as Request
    if (!isUnit(request)) break
    units.push(request)
  }
  return units
}
