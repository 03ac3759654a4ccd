// The writer of a PostgreSQL store: makes batches of requests durable, units by one call of the write function, claims in
// a transaction of their own, all under the one writers' lock. One session; the batch queue calls it one batch at a time.

import type { Client } from 'pg'
import type { Channel } from '../batches/channel.ts'
import {
  type Answer,
  type BatchAnswer,
  type Failure,
  isFailure,
  type Request,
  readClaim,
  readDeliveryClaim,
  readPruning,
} from '../batches/requests.ts'
import { prune } from '../claims/prune.ts'
import { releaseOthers } from '../claims/release.ts'
import type { Value } from '../tables/operations.ts'
import { toStored } from '../tables/stored-text.ts'
import { claimDeliveries, claimRuns, claimTimers } from './claims.ts'
import { end, openSession, rowsOf } from './client.ts'
import { isUnavailable } from './failures.ts'
import { extendRuns } from './leases.ts'
import { answerTo } from './lost-answer.ts'
import { answered } from './run-work.ts'
import { TAKE_WRITE_LOCK, WRITE_FUNCTION } from './write-function.ts'

/** How often a lost session is opened anew for one batch, and how long is waited in between. */
const RECONNECTS_MAX = 3
const RECONNECT_PAUSE_MS = 100
const CONNECT_MS_MAX = 3000
/** After its first try a batch is tried no more: whoever waits is told. Sooner where the batch before was given up. */
const TRY_MS_MAX = 8000
const TRY_MS_MAX_WHILE_AWAY = 1000

export interface WriterOptions {
  url: string
  /** Names this writer in the database, uniquely. */
  name: string
  onTrouble(details: object, message: string): void
}

export class Writer implements Channel {
  readonly #options: WriterOptions
  #client: Client | undefined
  #batch = 0
  /** Why the store could not be reached, while that is so. */
  #away: Failure | undefined

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** All requests in their order. Those that fail, fail alone, but for those behind one that met no store. */
  async run(batch: Request[]): Promise<BatchAnswer> {
    const answers: Answer[] = []
    let transactions = 0
    for (let at = 0; at < batch.length; ) {
      if (at > 0 && this.#away) {
        const away = this.#away
        answers.push(...batch.slice(at).map(() => away))
        break
      }
      const units = unitsFrom(batch, at)
      const taken =
        units > 0 ? await this.#units(batch.slice(at, at + units)) : [await this.#other(batch[at] as Request)]
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
    const forgotten = rowsOf(client, 'DELETE FROM writers WHERE writer = $1', [this.#options.name])
    await answerTo(client, this.#options.url, forgotten).catch(() => {})
    await end(client)
  }

  /** Units that follow each other share a call. When one meets an unexpected error, each is written by itself. */
  async #units(units: Request[]): Promise<Answer[]> {
    const answers = await this.#write(units)
    if (!isFailure(answers)) return answers
    if (units.length === 1 || answers.unavailable) return units.map(() => answers)
    const single: Answer[] = []
    for (const unit of units) {
      const answer = await this.#write([unit])
      single.push(isFailure(answer) ? answer : answer[0])
    }
    return single
  }

  /** Sent again under the same number when the answer is lost, until there is one. */
  async #write(units: Request[]): Promise<Answer[] | Failure> {
    const batch = ++this.#batch
    const values = flat(units)
    const begunAt = performance.now()
    const tryMsMax = this.#away ? TRY_MS_MAX_WHILE_AWAY : TRY_MS_MAX
    for (let tries = 0; ; tries++) {
      try {
        return await this.#asked(client => written(client, [this.#options.name, batch, values]))
      } catch (error) {
        if (!isUnavailable(error)) return { failed: (error as Error).message, unavailable: false }
        this.#lost(error)
        // What became of it nobody knows then: whoever waits for it has to look.
        if (tries >= RECONNECTS_MAX || performance.now() - begunAt > tryMsMax) return this.#unavailable(error)
        await pause(RECONNECT_PAUSE_MS * 2 ** tries)
      }
    }
  }

  /** A claim and the like: its own transaction. Of one that was lost on the way the leases run out. */
  async #other(request: Request): Promise<Answer> {
    try {
      return await this.#asked(client => transaction(client, request))
    } catch (error) {
      if (isUnavailable(error)) {
        this.#lost(error)
        return this.#unavailable(error)
      }
      await this.#client?.query('ROLLBACK').catch(lost => this.#lost(lost))
      return { failed: (error as Error).message, unavailable: false } satisfies Failure
    }
  }

  /** The answer of a session to the question. */
  async #asked<T>(question: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#session()
    const answer = await answerTo(client, this.#options.url, question(client))
    this.#away = undefined
    return answer
  }

  #unavailable(error: unknown): Failure {
    this.#away = { failed: (error as Error).message, unavailable: true }
    return this.#away
  }

  async #session(): Promise<Client> {
    if (this.#client) return this.#client
    let opened: Client | undefined
    // Lost before it is ours, the first query tells.
    const client = await openSession(this.#options.url, error => opened && this.#lost(error, opened), {
      connectMsMax: CONNECT_MS_MAX,
      plansOnce: true,
    })
    opened = client
    this.#client = client
    return client
  }

  /** Of one that was given up before, nothing is lost any more. */
  #lost(error: unknown, client = this.#client): void {
    if (client !== this.#client) return
    this.#client = undefined
    this.#options.onTrouble({ err: error }, 'the connection to the store was lost')
    if (client) void end(client)
  }
}

/** One call, which is a transaction: for each unit null, or the index of its check that does not hold. */
async function written(
  client: Client,
  values: [writer: string, batch: number, units: (string | null)[]],
): Promise<(number | null)[]> {
  const { rows } = await client.query<[number[]]>({
    name: WRITE_FUNCTION,
    text: `SELECT ${WRITE_FUNCTION}($1, $2, $3::text[])`,
    values,
    rowMode: 'array',
  })
  return (rows[0] as [number[]])[0].map(failed => (failed === 0 ? null : failed - 1))
}

async function transaction(client: Client, request: Request): Promise<Answer> {
  await client.query('BEGIN')
  await client.query(`SELECT ${TAKE_WRITE_LOCK}`)
  const answer = await execute(client, request)
  await client.query('COMMIT')
  return answer
}

function execute(client: Client, request: Request): Promise<Answer> {
  switch (request[0]) {
    case 'claim runs':
      return claimRuns(client, readClaim(request))
    case 'claim deliveries':
      return claimDeliveries(client, readDeliveryClaim(request))
    case 'claim timers':
      return claimTimers(client, readClaim(request))
    case 'extend':
      return extendRuns(client, request.slice(1) as [string, number, ...string[]])
    case 'release':
      return answered(client, releaseOthers(request[1] as string, request[2] as number))
    case 'prune':
      return answered(client, prune(readPruning(request)))
    case 'probe':
      return rowsOf(client, 'UPDATE probes SET count = count + 1')
    default:
      throw new Error(`no such request: ${request[0]}`)
  }
}

/** How many requests from there on are units. */
function unitsFrom(batch: readonly Request[], from: number): number {
  let end = from
  while (end < batch.length && batch[end]?.[0] === 'unit') end++
  return end - from
}

/** One list of texts: each unit behind its length. */
function flat(units: readonly Request[]): (string | null)[] {
  const values: (string | null)[] = []
  for (const unit of units) {
    values.push(String(unit.length - 1))
    for (let i = 1; i < unit.length; i++) values.push(text(unit[i] as Value))
  }
  return values
}

function text(value: Value): string | null {
  if (typeof value === 'string') return toStored(value)
  return value === null ? null : String(value)
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
