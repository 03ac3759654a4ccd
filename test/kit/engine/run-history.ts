// An engine on the test's clock, with runs in the states that a test needs. The data of a run controls the run: `{ends:
// 'succeeded', lastsMs, result}`, `{ends: 'failed', message}`, `{ends: 'waiting'}` or `{ends:
// 'running'}`.

import type { Run, RunStatus, RunSummary } from '@perdure/protocol'
import { expect } from 'vitest'
import type { Answer, Api } from '../http/api.ts'
import type { Handler, PlainRunner } from '../runner/plain-runner.ts'
import { flow, wait } from '../runner/steps.ts'
import { returned } from '../runner/wire.ts'
import { until } from '../until.ts'
import { type OpenEngine, type OpenOptions, openEngine } from './engine-in-process.ts'
import { JumpClock } from './jump-clock.ts'

export interface Doing {
  ends?: 'succeeded' | 'failed' | 'waiting' | 'running'
  /** How long the run's one pass takes. */
  lastsMs?: number
  result?: unknown
  message?: string
  [more: string]: unknown
}

const parked = flow([wait('for ever', 'never')])

export class RunHistory {
  readonly engine: OpenEngine
  readonly clock: JumpClock

  private constructor(engine: OpenEngine, clock: JumpClock) {
    this.engine = engine
    this.clock = clock
  }

  static async open(options: OpenOptions = {}): Promise<RunHistory> {
    const clock = new JumpClock()
    return new RunHistory(await openEngine({ clock, ...options }), clock)
  }

  get api(): Api {
    return this.engine.api
  }

  /** Opens a runner of the app. An event of a workflow's name starts the workflow. */
  runner(app: string, workflows: readonly string[]): Promise<PlainRunner> {
    const handlers = workflows.map(name => [name, this.#handler] as const)
    return this.engine.runner({ app, workflows: Object.fromEntries(handlers) })
  }

  /**
   * Starts a run and waits for the state that its data names. First moves the clock by 1 ms, so no two runs start at the same
   * time.
   */
  async run(app: string, name: string, doing: Doing = {}): Promise<Run> {
    const { runId } = await this.send({ app, name, data: doing })
    return this.api.reaches(runId, doing.ends ?? 'succeeded')
  }

  /** Sends an event in a millisecond that no other event has. */
  send(event: Record<string, unknown>, api = this.api) {
    this.clock.jump(1)
    return api.send(event)
  }

  /** Applies a control action, and resolves with the run once it has the status. */
  async act(runId: string, action: 'pause' | 'cancel', status: RunStatus): Promise<Run> {
    expect((await this.api.post(`/runs/${runId}/${action}`)).status).toBe(200)
    return until(async () => {
      const run = await this.api.run(runId)
      return run.status === status && run
    })
  }

  async replay(runId: string): Promise<Run> {
    this.clock.jump(1)
    const answer = await this.api.post(`/runs/${runId}/replay`)
    expect(answer.status).toBe(200)
    return this.api.succeeded((answer.json as RunSummary).id)
  }

  readonly #handler: Handler = async (invoke, executed) => {
    const doing = (invoke.event.data ?? {}) as Doing
    if (doing.ends === 'waiting') return parked(invoke, executed)
    if (doing.ends === 'running') return new Promise(() => {})
    this.clock.jump(doing.lastsMs ?? 0)
    if (doing.ends !== 'failed') return returned(doing.result ?? null)
    return { status: 400, body: { error: { message: doing.message ?? 'no' }, logs: [] } }
  }
}

export interface Page {
  runs: RunSummary[]
  ids: string[]
  /** The cursor of the next page, ready for a query; undefined on the last page. */
  cursor: string | undefined
}

/** A page of `GET /runs`. Throws when the answer is not 200. */
export async function page(api: Api, query = ''): Promise<Page> {
  const answer: Answer = await api.get(`/runs?${query}`)
  if (answer.status !== 200) throw new Error(`GET /runs?${query} answered ${answer.status} ${answer.text}`)
  const runs = answer.json as RunSummary[]
  const cursor = answer.headers.get('x-next-cursor')
  return {
    runs,
    ids: runs.map(({ id }) => id),
    cursor: cursor === null ? undefined : encodeURIComponent(cursor),
  }
}

/** The ids of all pages, with `limit` runs per page. */
export async function allPages(api: Api, query: string, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = ''; ; ) {
    const { ids: some, cursor } = await page(api, `${query}&limit=${limit}${at}`)
    ids.push(...some)
    if (cursor === undefined) return ids
    at = `&cursor=${cursor}`
  }
}
