// Engines hear each other through the database they share, where there is no Redis: LISTEN in a session of its own, NOTIFY
// never inside a transaction that holds anything, since it takes a lock of the whole server at its commit.

import type { Client } from 'pg'
import { openSession } from '../sql/postgres/client.ts'
import type { Wire } from './shared.ts'

const RETRY_MS = 500
/** A session that listens may die without a word: it is asked from time to time. */
const PROBE_EVERY_MS = 10_000

export interface PostgresWireOptions {
  url: string
  channel: string
  onTrouble(error: unknown): void
}

export class PostgresWire implements Wire {
  readonly #options: PostgresWireOptions
  #client: Client | undefined
  #onWord: (word: string) => void = () => {}
  #onBack: () => void = () => {}
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PostgresWireOptions) {
    this.#options = options
  }

  async listen(onWord: (word: string) => void, onBack: () => void): Promise<void> {
    this.#onWord = onWord
    await this.#connect()
    this.#onBack = onBack
  }

  async say(word: string): Promise<void> {
    await this.#client?.query('SELECT pg_notify($1, $2)', [this.#options.channel, word]).catch(() => {})
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const client = await openSession(this.#options.url, error => this.#lost(client, error))
    client.on('notification', ({ payload }) => payload !== undefined && this.#onWord(payload))
    await client.query(`LISTEN "${this.#options.channel}"`)
    this.#client = client
    this.#onBack()
    this.#later(PROBE_EVERY_MS, () => this.#probe(client))
  }

  async #probe(client: Client): Promise<void> {
    await client.query('SELECT 1')
    this.#later(PROBE_EVERY_MS, () => this.#probe(client))
  }

  #lost(client: Client, error: unknown): void {
    if (this.#closed || (this.#client !== undefined && this.#client !== client)) return
    this.#options.onTrouble(error)
    this.#client = undefined
    client.end().catch(() => {})
    this.#later(RETRY_MS, () => this.#connect())
  }

  #later(ms: number, next: () => Promise<void>): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      next().catch(error => {
        if (this.#closed) return
        this.#options.onTrouble(error)
        const client = this.#client
        this.#client = undefined
        client?.end().catch(() => {})
        this.#later(RETRY_MS, () => this.#connect())
      })
    }, ms)
    this.#timer.unref()
  }
}
