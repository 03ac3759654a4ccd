// Readers of output streams. Each follows one stream by long polls, from its beginning to the end of the run, even while engines
// die. At the end, the checks compare the received messages with the stream.

import type { StreamMessage } from '@perdure/protocol'
import { offsetOf } from '../../../packages/engine/src/domain/streams/messages.ts'
import { type WrittenStream, withNames } from '../checks/stream-checks.ts'
import { apiKey, type EngineHost } from '../core/engine-host.ts'
import type { SimClock } from '../core/sim-clock.ts'
import { inject } from '../core/sim-engine.ts'
import { ensure, type Violation } from '../core/violation.ts'

const READERS_MAX = 3
/** Longer than a long poll waits. */
const PATIENCE_MS = 25_000
const AGAIN_MS = 1000

export class StreamReaders {
  readonly #deps: { clock: SimClock; host: EngineHost; fail: (violation: Violation) => void }
  #count = 0

  constructor(deps: { clock: SimClock; host: EngineHost; fail: (violation: Violation) => void }) {
    this.#deps = deps
  }

  /** Follows the stream, unless enough streams are followed already. */
  follow(stream: WrittenStream): void {
    if (this.#count++ >= READERS_MAX) return
    stream.read = []
    this.#readAll(stream).catch(this.#deps.fail)
  }

  async #readAll({ namespace, runId, name, read = [] }: WrittenStream): Promise<void> {
    const { clock } = this.#deps
    for (;;) {
      const url = `/runs/${runId}/streams/${name}?live=long-poll&offset=${offsetOf(read.length)}`
      const answer = await this.#get(namespace, url)
      if (answer?.status === 200) {
        read.push(...withNames(answer.body as StreamMessage[]))
        if (read.some(message => 'end' in message)) return
      } else {
        const mayBe = answer === undefined || [204, 500, 503].includes(answer.status)
        ensure(mayBe, 'a reader is answered as documented', () => `${url}: ${JSON.stringify(answer)}`, [runId])
        await clock.wait(AGAIN_MS)
      }
    }
  }

  /** Undefined: no engine answers. */
  async #get(namespace: string, url: string) {
    const { clock, host } = this.#deps
    const serving = host.current
    if (!serving) return undefined
    const { engine, life } = serving
    const answered = inject(engine, { method: 'GET', url, key: apiKey(namespace) }).catch(error => {
      if (life.draining) return undefined
      throw error
    })
    clock.activity.sign()
    const answer = await Promise.race([answered, clock.wait(PATIENCE_MS).then(() => undefined)])
    clock.activity.sign()
    return life.dead ? undefined : answer
  }
}
