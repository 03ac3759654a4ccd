// Results of another engine's calls, whose runner lost its socket there and reconnected to this engine. Finds the engine that has
// the call, over the bus, and sends it the result. Opened by relayed-connect.ts.

import type { Bus } from '../../../ports/bus.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import { type ConnectTransport, type ForeignResult, LOST_GRACE_MS } from '../transport.ts'
import { handleTopics, RESULT_TOPICS, splitOnce } from './messages.ts'

/** Interval at which the request for the owner is repeated, since messages may be lost. */
const OWNER_REQUEST_EVERY_MS = 1000
/** After this time no engine waits for the result: a call waits LOST_GRACE_MS for its runner to return. */
const OWNER_REQUEST_MS_MAX = LOST_GRACE_MS + 1000
/** Most characters of results kept. A further result is neither forwarded nor acknowledged, so its runner sends it again. */
const RESULTS_LENGTH_MAX = 64 * 1024 * 1024

interface PendingResult extends ForeignResult {
  cancel(): void
  /** Called when an engine has the result, or none can use it any more. */
  settle(): void
}

export interface ForeignResultsOptions {
  bus: Bus
  clock: Clock
  local: Pick<ConnectTransport, 'has' | 'take'>
}

export class ForeignResults {
  readonly #options: ForeignResultsOptions
  readonly #pending = new Map<string, PendingResult>()
  #pendingLength = 0

  constructor(options: ForeignResultsOptions) {
    this.#options = options
    const { bus, local } = options
    handleTopics(bus, RESULT_TOPICS, {
      ownerRequest: (text, from) => {
        const [id, url] = splitOnce(text, ' ')
        if (local.has(url, id)) bus.publish(RESULT_TOPICS.owner, id, from)
      },
      owner: (id, from) => {
        const result = this.#pending.get(id)
        if (!result) return
        bus.publish(RESULT_TOPICS.result, `${id} ${result.status} ${result.url}\n${result.body}`, from)
      },
      result: (text, from) => {
        const [head, body] = splitOnce(text, '\n')
        const [id, rest] = splitOnce(head, ' ')
        const [status, url] = splitOnce(rest, ' ')
        local.take({ id, status: Number(status), url, body })
        bus.publish(RESULT_TOPICS.resultReceived, id, from)
      },
      resultReceived: id => this.#pending.get(id)?.settle(),
    })
  }

  /** Resolves when the result may be acknowledged: an engine has it, or none can use it any more. */
  forward(result: ForeignResult): Promise<void> {
    const { bus, clock } = this.#options
    // The runner sent the result again: the new request replaces the earlier one.
    this.#pending.get(result.id)?.cancel()
    const { length } = result.body
    if (this.#pendingLength + length > RESULTS_LENGTH_MAX) return new Promise(() => {})
    return new Promise(resolve => {
      const until = clock.elapsed() + OWNER_REQUEST_MS_MAX
      const requestOwner = () => bus.publish(RESULT_TOPICS.ownerRequest, `${result.id} ${result.url}`)
      const stopRequests = every(clock, OWNER_REQUEST_EVERY_MS, () => {
        if (clock.elapsed() >= until) settle()
        else requestOwner()
      })
      const cancel = () => {
        stopRequests()
        this.#pendingLength -= length
        this.#pending.delete(result.id)
      }
      const settle = () => {
        cancel()
        resolve()
      }
      this.#pendingLength += length
      this.#pending.set(result.id, { ...result, cancel, settle })
      requestOwner()
    })
  }

  close(): void {
    for (const result of [...this.#pending.values()]) result.cancel()
  }
}
