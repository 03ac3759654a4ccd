// A client that posts events with unique tokens as fast as its lanes get answers, and keeps a ledger of the acknowledged ones;
// and functions that compare that ledger with an engine.

import { setTimeout as pause } from 'node:timers/promises'
import type { EventRecord } from '@perdure/protocol'
import { pages } from '../../test/kit/http/pages.ts'
import { type Accepted, type Api, until } from '../../test/kit/index.ts'
import { Ledger } from '../../test/kit/ledger.ts'

/** Delay before a lane tries again after a refusal or a broken connection. */
const RETRY_MS = 20

export interface Acknowledged {
  token: string
  accepted: Accepted
}

export interface TokenLoadOptions {
  api: Api
  app: string
  /** The name of the events. */
  name: string
  parallel: number
  /** Further data of each event. */
  data?: Record<string, unknown>
}

export class TokenLoad {
  readonly acknowledged = new Ledger<Acknowledged>('client')
  /** The number of answers with each other status. */
  readonly refused = new Map<number, number>()
  /** Number of refusals for overload or unavailability that name no time to try again. */
  withoutRetryAfter = 0
  unanswered = 0
  readonly #options: TokenLoadOptions
  readonly #lanes: Promise<void>[]
  #isStopping = false
  #count = 0

  constructor(options: TokenLoadOptions) {
    this.#options = options
    this.#lanes = Array.from({ length: options.parallel }, () => this.#lane())
  }

  /** Resolves when the events under way are answered or given up. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#lanes)
  }

  async #lane(): Promise<void> {
    while (!this.#isStopping) if (!(await this.#post())) await pause(RETRY_MS)
  }

  async #post(): Promise<boolean> {
    const { api, app, name, data } = this.#options
    const token = `token-${++this.#count}`
    const answer = await api.post('/events', { name, app, data: { ...data, token } }).catch(() => undefined)
    if (answer === undefined) this.unanswered++
    else if (answer.status === 202) this.acknowledged.append({ token, accepted: answer.json as Accepted })
    else {
      this.refused.set(answer.status, (this.refused.get(answer.status) ?? 0) + 1)
      if (!answer.headers.has('retry-after')) this.withoutRetryAfter++
    }
    return answer?.status === 202
  }
}

/** Returns acknowledged events that the engine does not have unchanged, or whose runs it does not have. */
export async function lostOf(api: Api, entries: readonly Acknowledged[]): Promise<string[]> {
  const problems: string[] = []
  for (const { token, accepted } of entries) {
    const { status, json } = await api.get(`/events/${accepted.eventId}`)
    const found = json as EventRecord
    if (status !== 200) problems.push(`${token}: the acknowledged event ${accepted.eventId} is lost (${status})`)
    else if ((found.data as { token?: string }).token !== token) problems.push(`${token}: its event has other data`)
    for (const { runId } of accepted.triggered) {
      const run = await api.get(`/runs/${runId}`)
      if (run.status !== 200) problems.push(`${token}: run ${runId} is lost (${run.status})`)
    }
  }
  return problems
}

/** Returns events that took effect only in part, with a run that does not exist, or twice for one token. */
export async function halvesOf(api: Api, name: string): Promise<string[]> {
  const problems: string[] = []
  const tokens = new Set<string>()
  for (const { id, data, triggered } of await pages<EventRecord>(api, `/events?name=${name}&limit=100`)) {
    const { token = id } = data as { token?: string }
    if (tokens.has(token)) problems.push(`${token}: there are two events`)
    tokens.add(token)
    if (triggered.length === 0) problems.push(`${token}: event ${id} started no run`)
    for (const { runId } of triggered) {
      if ((await api.get(`/runs/${runId}`)).status !== 200) problems.push(`${token}: its run ${runId} does not exist`)
    }
  }
  return problems
}

/** Waits until no run of the app is open. Returns the runs that are still open at the deadline. */
export async function openRuns(api: Api, app: string, deadlineMs: number): Promise<string[]> {
  const look = async () => {
    const open: string[] = []
    for (const status of ['queued', 'running', 'waiting']) {
      for (const { id } of await api.runs(`?app=${app}&status=${status}&limit=20`)) open.push(`run ${id} is ${status}`)
    }
    return open
  }
  await until(async () => (await look()).length === 0, { deadlineMs }).catch(() => {})
  return look()
}
