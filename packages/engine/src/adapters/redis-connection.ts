// The connections to Redis: two of the wire and one of the limiter. A network may drop a connection without telling either side,
// and then commands would wait on it for ever. One rule prevents that: if an answer does not arrive in time, the connection is
// closed and replaced.

import { randomUUID } from 'node:crypto'
import { type Command, Redis } from 'ioredis'

/** Longest time to connect, and longest time of a command: an event may wait for the answer. */
const REDIS_TIMEOUT_MS = 2000
/** Interval of the checks of a connection. The answer to the last check must have arrived by the next. */
const CHECK_EVERY_MS = 2000
const RETRY_MS_MAX = 2000

export interface RedisConnectionOptions {
  url: string
  /**
   * Whether the connection receives messages: it sends only its subscriptions, which wait for the connection however long it
   * takes.
   */
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

  /** Sends a command. A command that misses its deadline closes the connection it was sent on. */
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    // The client sends unanswered commands again on a new connection, even those that have failed meanwhile.
    if (this.status === 'ready' && !this.#sent.has(command)) {
      this.#sent.add(command)
      const sentOn = this.stream
      command.promise.catch(error => {
        if ((error as Error).message === 'Command timed out') this.#replace(sentOn)
      })
    }
    return super.sendCommand(command, stream)
  }

  /** Checks both directions: a subscriber sends nothing by itself, and a connection may have lost its answers. */
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
      // After a lost answer, every later answer would go to the command before its own.
      if (![answer].flat().includes(token)) this.#replace(stream)
      if (this.#awaited === awaited) this.#awaited = undefined
    }
    this.ping(token).then(answered, () => {})
  }

  /** Closes the connection at once; the client opens another one. Does nothing for a connection that was already replaced. */
  #replace(stream: object): void {
    if (stream === this.stream) this.stream.destroy(new Error('Redis does not answer: the connection is replaced'))
  }
}

/** How long to wait, after a lost connection, before the try with this number. */
function redisRetryMs(tries: number): number {
  return Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(tries, 6))
}
