// The client of the kill loop. It posts orders and their approvals as fast as orders end, and records every
// acknowledgement. An order without an answer is given up. An approval is repeated, with the same dedupe id, until an engine
// accepts it.

import { type Accepted, type Api, within } from '../../kit/index.ts'
import { Ledger } from '../../kit/ledger.ts'
import { approvalOf, ORDER } from './workload.ts'

export interface Acknowledged {
  token: string
  accepted: Accepted
}

export interface ClientOptions {
  api: Api
  app: string
  /** Resolves when the engine is up. */
  whenUp(): Promise<void>
  /** Orders in flight at once. */
  parallel: number
}

export class LoadClient {
  readonly acknowledged = new Ledger<Acknowledged>('client')
  /** Tokens of posts without an answer: each of these orders happened completely or not at all. */
  readonly unanswered = new Set<string>()
  /** Runs as read after their end. They must never change again. */
  readonly ended = new Map<string, string>()
  readonly problems: string[] = []
  readonly #options: ClientOptions
  readonly #lanes: Promise<void>[]
  #stopping = false
  #givenUp = false
  #count = 0

  constructor(options: ClientOptions) {
    this.#options = options
    this.#lanes = Array.from({ length: options.parallel }, () => this.#lane())
  }

  /**
   * Stops starting orders. Resolves when the orders in flight have ended or are given up, and all accepted orders are approved.
   */
  async finish(deadlineMs: number): Promise<void> {
    this.#stopping = true
    const lanes = Promise.all(this.#lanes)
    await within(lanes, 'the end of the orders under way', deadlineMs).catch(error => {
      this.#givenUp = true
      this.problems.push(String(error))
    })
    for (const token of this.unanswered) await this.#approve(token)
  }

  async #lane(): Promise<void> {
    while (!this.#stopping) {
      const token = `token-${++this.#count}`
      const accepted = await this.#order(token)
      if (accepted === undefined) continue
      this.acknowledged.append({ token, accepted })
      await this.#approve(token)
      await this.#ended(accepted.runId)
    }
  }

  async #order(token: string): Promise<Accepted | undefined> {
    const { api, app, whenUp } = this.#options
    await whenUp()
    try {
      const { status, json, text } = await api.post('/events', { name: ORDER, app, data: { token } })
      if (status === 202) return json as Accepted
      if (status !== 503) this.problems.push(`order ${token} was answered ${status} ${text}`)
    } catch {
      // The engine died before it answered.
    }
    this.unanswered.add(token)
    return undefined
  }

  async #approve(token: string): Promise<void> {
    const name = approvalOf(token)
    while (!this.#givenUp) {
      const answer = await this.#try(api => api.post('/events', { name, dedupeId: name, data: { token } }))
      if (answer?.status === 202) return
      if (answer && answer.status !== 503) this.problems.push(`approval ${token}: ${answer.status} ${answer.text}`)
    }
  }

  /** Follows the run's stream to its end, across crashes, and records how the run ended. */
  async #ended(runId: string): Promise<void> {
    let last = 0
    while (!this.#givenUp) {
      const read = await this.#try(api => api.stream(runId, { query: `?from=${last}`, deadlineMs: 30_000 }))
      for (const { data } of read?.messages ?? []) {
        if ((data.seq as number) <= last) this.problems.push(`stream of ${runId}: seq ${data.seq} after ${last}`)
        last = data.seq as number
      }
      if (read?.status === 404) {
        this.problems.push(`the acknowledged run ${runId} does not exist`)
        return
      }
      if (!read?.ended || read.status !== 200) continue
      const answer = await this.#try(api => api.get(`/runs/${runId}`))
      if (answer?.status !== 200) continue
      this.ended.set(runId, answer.text)
      return
    }
  }

  async #try<T>(ask: (api: Api) => Promise<T>): Promise<T | undefined> {
    await this.#options.whenUp()
    try {
      return await ask(this.#options.api)
    } catch {
      return undefined
    }
  }
}
