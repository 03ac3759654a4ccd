// Reports of runners over HTTP that arrived at an engine other than the sender of the pass. They go over the bus to that
// engine, and its answer comes back. Messages may be lost, so a report without an answer is sent again: the same report gets
// the same receipt. Connected with http-checkpoints.ts by compose.

import { EngineError } from '../../domain/model/errors.ts'
import type { Bus } from '../../ports/bus.ts'
import { type Clock, every } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { PassName } from '../support/pass-tokens.ts'
import { passIsOver } from './http-checkpoints.ts'

/** Engines of different versions share a bus, so neither topics nor texts may change. */
const TOPICS = {
  /** `id number`, and the payload on the next line. */
  report: 'passReport',
  /** `id kind`, followed by the receipt or the reason. */
  answer: 'passReportAnswer',
} as const

/** The kinds of answers are error codes; this kind is a stored receipt. */
const STORED = '+'
const REFUSALS = { gone: '-', invalid_request: '?', rate_limited: '~', unavailable: '!' } as const

const REPEAT_MS = 1000
/**
 * After more repeats, a runner falls back to the answer of its pass. All repeats together take less time than an engine that
 * stops waits for open requests.
 */
const REPEATS_MAX = 8
/** Maximum reports of this engine that wait for other engines. */
const FORWARDED_MAX = 4096

export interface ForwardedCheckpointsDeps {
  bus: Bus
  clock: Clock
  store: Pick<Store, 'loadRun'>
  /** Makes a report for a pass of this engine durable, and resolves to its receipt. */
  receiveHere(no: number, payload: string): Promise<string>
}

interface Waiting {
  settle(answer: string): void
}

export class ForwardedCheckpoints {
  readonly #deps: ForwardedCheckpointsDeps
  readonly #waiting = new Map<string, Waiting>()
  /** The reports of other engines that are being stored here, so that a repeat is not stored at the same time. */
  readonly #underWay = new Set<string>()
  #count = 0

  constructor(deps: ForwardedCheckpointsDeps) {
    this.#deps = deps
    const { bus } = deps
    bus.on(TOPICS.report, (text, from) => void this.#receive(text, from))
    bus.on(TOPICS.answer, text => {
      const id = text.slice(0, text.indexOf(' '))
      this.#waiting.get(id)?.settle(text.slice(id.length + 1))
    })
  }

  /** Resolves to the receipt, and rejects as `HttpCheckpoints.receive` does. */
  async forward(pass: PassName, payload: string): Promise<string> {
    const { bus } = this.#deps
    if (this.#waiting.size >= FORWARDED_MAX)
      throw new EngineError('overloaded', `${FORWARDED_MAX} checkpoints wait for other engines, the maximum`)
    const id = `${bus.self}#${++this.#count}`
    const text = `${id} ${pass.no}\n${payload}`
    const answer = await this.#answerTo(id, text, pass)
    if (answer.startsWith(STORED)) return answer.slice(STORED.length)
    const message = answer.slice(1)
    const code = (Object.keys(REFUSALS) as (keyof typeof REFUSALS)[]).find(one => REFUSALS[one] === answer[0])
    throw code === 'gone' ? passIsOver() : new EngineError(code ?? 'unavailable', message)
  }

  #answerTo(id: string, text: string, { engine, runId }: PassName): Promise<string> {
    const { bus, clock, store } = this.#deps
    return new Promise(resolve => {
      const settle = (answer: string) => {
        stopRepeats()
        this.#waiting.delete(id)
        resolve(answer)
      }
      let repeats = 0
      const stopRepeats = every(clock, REPEAT_MS, () => {
        if (++repeats > REPEATS_MAX) settle(`${REFUSALS.unavailable}the engine that drives the run does not answer`)
        else bus.publish(TOPICS.report, text, engine)
        // The engine may be dead. If another engine has the run, the pass is over.
        void store.loadRun(runId).then(
          loaded => loaded?.run.leaseOwner !== engine && settle(REFUSALS.gone),
          () => undefined,
        )
      })
      this.#waiting.set(id, { settle })
      bus.publish(TOPICS.report, text, engine)
    })
  }

  async #receive(text: string, from: string): Promise<void> {
    const { bus, receiveHere } = this.#deps
    const lineEnd = text.indexOf('\n')
    const [id, no] = text.slice(0, lineEnd).split(' ') as [string, string]
    if (this.#underWay.has(id)) return
    this.#underWay.add(id)
    const answer = await receiveHere(Number(no), text.slice(lineEnd + 1)).then(ack => `${STORED}${ack}`, refusalText)
    this.#underWay.delete(id)
    bus.publish(TOPICS.answer, `${id} ${answer}`, from)
  }
}

function refusalText(error: unknown): string {
  const { code, message } = error as Partial<EngineError>
  if (code === undefined || !(code in REFUSALS)) return `${REFUSALS.unavailable}the checkpoint could not be stored`
  return `${REFUSALS[code as keyof typeof REFUSALS]}${message}`
}
