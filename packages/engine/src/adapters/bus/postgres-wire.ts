// Engines hear each other through the database they share, where there is no Redis: LISTEN in a session of its own, NOTIFY
// never inside a transaction that holds anything, since it takes a lock of the whole server at its commit. A word too
// long for a notification waits in a table for the one it is for.

import { createHash } from 'node:crypto'
import type { Client } from 'pg'
import { end, openSession, rowsOf } from '../sql/postgres/client.ts'
import type { Wire } from './wire.ts'

const RETRY_MS = 500
/** Nothing that is asked here takes long. */
const ANSWER_MS_MAX = 8000
/** A session that listens may die without a word: it is asked from time to time. */
const PROBE_EVERY_MS = 10_000
/** A notification holds 8,000 bytes less one. */
const WORD_BYTES_MAX = 7800
/** Words said with one statement. */
const TOGETHER_MAX = 500
/** What nobody fetched by then never will be. */
const FORGET_AFTER = '5 minutes'

const NOTIFY = 'SELECT pg_notify(channel, word) FROM unnest($1::text[], $2::text[]) AS said (channel, word)'
const KEEP = 'INSERT INTO wire_words (word) VALUES ($1) RETURNING id'
const FETCH = 'DELETE FROM wire_words WHERE id = $1 RETURNING word'
const FORGET = `DELETE FROM wire_words WHERE at < now() - interval '${FORGET_AFTER}'`

export interface PostgresWireOptions {
  /** The schema it names has the store's tables. */
  url: string
  /** Channels are the whole database's. */
  channel: string
  onTrouble(error: unknown): void
}

interface Said {
  channel: string
  word: string
  done(): void
}

export class PostgresWire implements Wire {
  readonly #options: PostgresWireOptions
  #name = ''
  #client: Client | undefined
  #onWord: (word: string) => void = () => {}
  #onBack: () => void = () => {}
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #gathered: Said[] = []
  #isSaying = false
  /** What was heard is told in order, also when some of it must be fetched first. */
  #heard: Promise<void> = Promise.resolve()
  #before: Promise<unknown> = Promise.resolve()

  constructor(options: PostgresWireOptions) {
    this.#options = options
  }

  async listen(name: string, onWord: (word: string) => void, onBack: () => void): Promise<void> {
    this.#name = name
    this.#onWord = onWord
    await this.#connect()
    this.#onBack = onBack
  }

  say(word: string, to?: string): Promise<void> {
    const channel = this.#channelOf(to)
    return new Promise(done => {
      this.#gathered.push({ channel, word, done })
      if (!this.#isSaying) void this.#sayAll()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    if (this.#client) await end(this.#client)
  }

  #channelOf(name: string | undefined): string {
    // A channel's name has 63 bytes at most.
    const digest = createHash('sha256').update(JSON.stringify([this.#options.channel, name ?? null]))
    return `perdure_${digest.digest('hex').slice(0, 40)}`
  }

  /** What is said while a statement is under way goes with the next. */
  async #sayAll(): Promise<void> {
    this.#isSaying = true
    while (this.#gathered.length > 0) {
      const words = this.#gathered.splice(0, TOGETHER_MAX)
      await this.#sayTogether(words).catch(() => {})
      for (const { done } of words) done()
    }
    this.#isSaying = false
  }

  async #sayTogether(words: readonly Said[]): Promise<void> {
    const client = this.#client
    if (!client) return
    await this.#alone(async () => {
      const short: string[] = []
      for (const { word } of words) short.push(await shortened(client, word))
      await client.query({ name: 'say', text: NOTIFY, values: [words.map(({ channel }) => channel), short] })
    })
  }

  async #hear(client: Client, payload: string): Promise<void> {
    if (!payload.startsWith('@')) return this.#onWord(payload)
    const id = Number(payload.slice(1))
    const [row] = await this.#alone(() => rowsOf(client, FETCH, [id], 'fetch')).catch(() => [])
    if (row) this.#onWord(row[0] as string)
  }

  /** A session takes one statement at a time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#before.then(work)
    this.#before = done.catch(() => {})
    return done
  }

  async #connect(): Promise<void> {
    let opened: Client | undefined
    const onLost = (error: Error) => opened && this.#lost(opened, error)
    const client = await openSession(this.#options.url, onLost, { answerMsMax: ANSWER_MS_MAX })
    opened = client
    client.on('notification', ({ payload }) => {
      if (payload === undefined) return
      this.#heard = this.#heard.then(() => this.#hear(client, payload))
    })
    await client.query(`LISTEN "${this.#channelOf(undefined)}"`)
    await client.query(`LISTEN "${this.#channelOf(this.#name)}"`)
    this.#client = client
    this.#onBack()
    this.#later(PROBE_EVERY_MS, () => this.#probe(client))
  }

  async #probe(client: Client): Promise<void> {
    await this.#alone(() => client.query(FORGET))
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

/** The word itself, or where it waits. */
async function shortened(client: Client, word: string): Promise<string> {
  if (!word.startsWith('@') && Buffer.byteLength(word) <= WORD_BYTES_MAX) return word
  const [row] = await rowsOf(client, KEEP, [word], 'keep')
  return `@${row?.[0]}`
}
