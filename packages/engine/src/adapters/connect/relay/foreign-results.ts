// Results of invokes that went over another engine's socket: their runner came back to this one. Whoever holds the call is
// asked for, and given them; opened by relay/connect.

import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ForeignResult } from '../transport.ts'
import { splitOnce } from './presence.ts'

/** Words may be lost: it is asked this often, */
const ASK_EVERY_MS = 1000
/** and so long: nobody waits longer for the runner of a lost socket to come back. */
const ASK_MS_MAX = 6000
/** Characters of results kept at once; one beyond is neither handed over nor acknowledged, and so sent again some time. */
const LENGTH_MAX = 64 * 1024 * 1024

interface Asked extends ForeignResult {
  until: number
  cancel(): void
  /** Somebody has it, or nobody can use it any more. */
  end(): void
}

export interface StraysOptions {
  bus: Bus
  clock: Clock
  /** Whether a call of the runner is under way here. */
  holds(url: string, id: string): boolean
  /** Hands such a call its result. */
  take(stray: ForeignResult): void
}

export class ForeignResults {
  readonly #options: StraysOptions
  readonly #asked = new Map<string, Asked>()
  #length = 0

  constructor(options: StraysOptions) {
    this.#options = options
    const { bus, holds, take } = options
    bus.on('whose', (text, from) => {
      const [id, url] = splitOnce(text, ' ')
      if (holds(url, id)) bus.publish('mine', id, from)
    })
    bus.on('mine', (id, from) => {
      const asked = this.#asked.get(id)
      if (asked) bus.publish('stray', `${id} ${asked.status} ${asked.url}\n${asked.body}`, from)
    })
    bus.on('stray', (text, from) => {
      const [head, body] = splitOnce(text, '\n')
      const [id, rest] = splitOnce(head, ' ')
      const [status, url] = splitOnce(rest, ' ')
      take({ id, status: Number(status), url, body })
      bus.publish('taken', id, from)
    })
    bus.on('taken', id => this.#asked.get(id)?.end())
  }

  /** Resolves when an engine has taken it, or none can any more: then it may be acknowledged. */
  handOver(stray: ForeignResult): Promise<void> {
    const { clock } = this.#options
    // Sent again: it was asked for already.
    this.#asked.get(stray.id)?.cancel()
    const length = stray.body.length
    if (this.#length + length > LENGTH_MAX) return new Promise(() => {})
    return new Promise(resolve => {
      this.#length += length
      const cancel = () => {
        stop()
        this.#length -= length
        this.#asked.delete(stray.id)
      }
      const end = () => {
        cancel()
        resolve()
      }
      const asked: Asked = { ...stray, until: clock.now() + ASK_MS_MAX, cancel, end }
      let stop = () => {}
      const ask = () => {
        if (clock.now() >= asked.until) {
          end()
          return
        }
        this.#options.bus.publish('whose', `${stray.id} ${stray.url}`)
        stop = clock.at(clock.now() + ASK_EVERY_MS, ask)
      }
      this.#asked.set(stray.id, asked)
      ask()
    })
  }

  close(): void {
    for (const asked of [...this.#asked.values()]) asked.cancel()
  }
}
