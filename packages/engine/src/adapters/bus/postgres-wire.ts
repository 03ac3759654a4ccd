// The wire over PostgreSQL, for engines that share a database and have no Redis. LISTEN has its own connection. NOTIFY never runs
// inside a transaction that holds locks, since its commit takes a lock on the whole server. A message too long for a notification
// waits in a table, and the notification refers to its row. Opened by backends.

import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Client } from 'pg'
import { end, openClient, rowsOf } from '../sql/postgres/client.ts'
import type { Wire } from './wire.ts'

const RECONNECT_MS = 500
/** Longest time of a statement: all of them are short. */
const ANSWER_MS_MAX = 8000
/** A listening connection may die unnoticed, so a statement checks it from time to time: a dead one is replaced within 10 s. */
const PROBE = { everyMs: 4000, answerMsMax: 5000 }
/** Number of probes after which messages that nobody fetched are deleted. */
const DELETING_PROBES = 3
/** PostgreSQL's limit for a notification is 7,999 bytes. */
const NOTIFICATION_BYTES_MAX = 7800
/** Most messages of one statement. */
const BATCH_MAX = 500
/** A long message that was not fetched within this time is deleted. */
const DELETE_AFTER = '5 minutes'
/** A notification that refers to a long message: this mark, then the row's id. */
const REFERENCE_MARK = '@'

// Table, column and alias names stay those of earlier versions, which share the database during a rolling deployment.
const NOTIFY = 'SELECT pg_notify(channel, word) FROM unnest($1::text[], $2::text[]) AS said (channel, word)'
const STORE = 'INSERT INTO wire_messages (body) VALUES ($1) RETURNING id'
const FETCH = 'DELETE FROM wire_messages WHERE id = $1 RETURNING body'
const DELETE_OLD = `DELETE FROM wire_messages WHERE at < now() - interval '${DELETE_AFTER}'`

export interface PostgresWireOptions {
  /** Names the schema that has the store's tables. */
  url: string
  /** Unique in the database: its channels are common to all schemas. */
  channel: string
  onError(error: unknown): void
  /** How often the connection is checked, and how long the answer may take. */
  probe?: { everyMs: number; answerMsMax: number }
}

interface OutgoingMessage {
  channel: string
  message: string
  done(): void
}

export class PostgresWire implements Wire {
  readonly #options: PostgresWireOptions
  readonly #probeTimes: { everyMs: number; answerMsMax: number }
  #probes = 0
  #name = ''
  #client: Client | undefined
  #onMessage: (message: string) => void = () => {}
  #onReconnect: () => void = () => {}
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #outgoing: OutgoingMessage[] = []
  #isSending = false
  /** The last received message. The next is handled after it, even when a long message must be fetched first. */
  #received: Promise<void> = Promise.resolve()
  #lastStatement: Promise<unknown> = Promise.resolve()

  constructor(options: PostgresWireOptions) {
    this.#options = options
    this.#probeTimes = options.probe ?? PROBE
  }

  async listen(name: string, onMessage: (message: string) => void, onReconnect: () => void): Promise<void> {
    this.#name = name
    this.#onMessage = onMessage
    await this.#connect()
    this.#onReconnect = onReconnect
  }

  send(message: string, to?: string): Promise<void> {
    const channel = this.#channelOf(to)
    return new Promise(done => {
      this.#outgoing.push({ channel, message, done })
      if (!this.#isSending) void this.#sendAll()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    if (this.#client) await end(this.#client)
  }

  #channelOf(name: string | undefined): string {
    // A channel's name has at most 63 bytes.
    const digest = createHash('sha256').update(JSON.stringify([this.#options.channel, name ?? null]))
    return `perdure_${digest.digest('hex').slice(0, 40)}`
  }

  /** Messages that arrive while a statement runs are sent together by the next one. */
  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#outgoing.length > 0) {
      const messages = this.#outgoing.splice(0, BATCH_MAX)
      await this.#sendBatch(messages).catch(() => {})
      for (const { done } of messages) done()
    }
    this.#isSending = false
  }

  async #sendBatch(messages: readonly OutgoingMessage[]): Promise<void> {
    const client = this.#client
    if (!client) return
    await this.#runAlone(async () => {
      const payloads: string[] = []
      for (const { message } of messages) payloads.push(await payloadOf(client, message))
      const channels = messages.map(({ channel }) => channel)
      await client.query({ name: 'say', text: NOTIFY, values: [channels, payloads] })
    })
  }

  async #receive(client: Client, payload: string): Promise<void> {
    if (!payload.startsWith(REFERENCE_MARK)) return this.#onMessage(payload)
    const id = Number(payload.slice(REFERENCE_MARK.length))
    const [row] = await this.#runAlone(() => rowsOf(client, FETCH, [id], 'fetch')).catch(() => [])
    if (row) this.#onMessage(row[0] as string)
  }

  /** Runs `work` after the statements before it: a connection takes one statement at a time. */
  #runAlone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastStatement.then(work)
    this.#lastStatement = done.catch(() => {})
    return done
  }

  async #connect(): Promise<void> {
    let opened: Client | undefined
    const onLost = (error: Error) => opened && this.#lost(opened, error)
    const client = await openClient(this.#options.url, onLost, { answerMsMax: ANSWER_MS_MAX })
    opened = client
    client.on('notification', ({ payload }) => {
      if (payload === undefined) return
      this.#received = this.#received.then(() => this.#receive(client, payload))
    })
    await client.query(`LISTEN "${this.#channelOf(undefined)}"`)
    await client.query(`LISTEN "${this.#channelOf(this.#name)}"`)
    this.#client = client
    this.#onReconnect()
    this.#schedule(this.#probeTimes.everyMs, () => this.#probe(client))
  }

  async #probe(client: Client): Promise<void> {
    const { everyMs, answerMsMax } = this.#probeTimes
    const statement = ++this.#probes % DELETING_PROBES === 0 ? DELETE_OLD : 'SELECT 1'
    const late = setTimeout(
      () => this.#lost(client, new Error('the listening connection does not answer')),
      answerMsMax,
    )
    await this.#runAlone(() => client.query(statement)).finally(() => clearTimeout(late))
    this.#schedule(everyMs, () => this.#probe(client))
  }

  #lost(client: Client | undefined, error: unknown): void {
    if (this.#closed || (this.#client !== undefined && this.#client !== client)) return
    this.#options.onError(error)
    this.#client = undefined
    // Ends at once everything that waits on a dead connection. A message to the server would wait too.
    if (client) (client as Client & { connection: { stream: Socket } }).connection.stream.destroy()
    this.#schedule(RECONNECT_MS, () => this.#connect())
  }

  #schedule(ms: number, next: () => Promise<void>): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      next().catch(error => this.#lost(this.#client, error))
    }, ms)
    this.#timer.unref()
  }
}

/** The notification for a message: the message itself, or the reference to its row if it is long. */
async function payloadOf(client: Client, message: string): Promise<string> {
  if (!message.startsWith(REFERENCE_MARK) && Buffer.byteLength(message) <= NOTIFICATION_BYTES_MAX) return message
  const [row] = await rowsOf(client, STORE, [message], 'keep')
  return `${REFERENCE_MARK}${row?.[0]}`
}
