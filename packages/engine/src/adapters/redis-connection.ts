// The connections to Redis: the wire's two and the limiter's. A network may drop a connection without a word to either side, and
// then commands would wait on it for ever. One rule replaces it: an answer that does not come in time closes the connection.

import { randomUUID } from 'node:crypto'
import { type Command, Redis } from 'ioredis'

/** Longest time to connect, and of a command: an event may wait for the answer. */
const REDIS_TIMEOUT_MS = 2000
/** From one check of a connection to the next. An answer to the last check must have come by then. */
const CHECK_EVERY_MS = 2000
const RETRY_MS_MAX = 2000

export interface RedisConnectionOptions {
  url: string
  /** Whether it receives messages: it sends nothing but its subscriptions, which wait for the connection as long as it takes. */
  subscribes?: boolean
}

export class RedisConnection extends Redis {
  readonly #checks: NodeJS.Timeout
  readonly #sent = new WeakSet<Command>()
  /** The answer, or the end of connecting, that the last check waits for. */
  #awaited: { stream: object; isConnecting: boolean } | undefined

  constructor({ url, subscribes = false }: RedisConnectionOptions) {
    const bounds = subscribes
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, commandTimeout: REDIS_TIMEOUT_MS }
    super(url, { ...bounds, connectTimeout: REDIS_TIMEOUT_MS, retryStrategy: redisRetryMs })
    this.#checks = setInterval(() => this.#check(), CHECK_EVERY_MS).unref()
    this.on('end', () => clearInterval(this.#checks))
  }

  /** Sends a command. One that runs into its deadline closes the connection it was sent on. */
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    // The client sends what has no answer again on a new connection, also what has failed meanwhile.
    if (this.status === 'ready' && !this.#sent.has(command)) {
      this.#sent.add(command)
      const sentOn = this.stream
      command.promise.catch(error => {
        if ((error as Error).message === 'Command timed out') this.#replace(sentOn)
      })
    }
    return super.sendCommand(command, stream)
  }

  /** Checks both directions: also a subscriber, which sends nothing by itself, and a connection whose answers went missing. */
  #check(): void {
    const { stream, status } = this
    const last = this.#awaited
    this.#awaited = undefined
    if (last && last.stream === stream && (!last.isConnecting || status === 'connect')) {
      this.#replace(stream)
      return
    }
    if (status === 'connect') this.#awaited = { stream, isConnecting: true }
    if (status !== 'ready') return
    const awaited = { stream, isConnecting: false }
    this.#awaited = awaited
    const token = randomUUID()
    const answered = (answer: unknown) => {
      // A lost answer moves all later ones to the commands before theirs.
      if (![answer].flat().includes(token)) this.#replace(stream)
      if (this.#awaited === awaited) this.#awaited = undefined
    }
    this.ping(token).then(answered, () => {})
  }

  /** Closes the connection at once: the client opens another one. Does nothing for one that was replaced. */
  #replace(stream: object): void {
    if (stream === this.stream) this.stream.destroy(new Error('Redis does not answer: the connection is replaced'))
  }
}

/** How long a lost connection waits before the try with this number. */
function redisRetryMs(tries: number): number {
  return Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(tries, 6))
}
