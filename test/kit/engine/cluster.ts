// Several engines on one database in the test's own process. They share the test's clock and notify each other over one of two
// wires; requests go to them in rotation.

import { onCleanup } from '../cleanup.ts'
import type { Accepted, Answer, Api } from '../http/api.ts'
import { type Handler, PlainRunner } from '../runner/plain-runner.ts'
import { freshSchema } from '../servers/postgres.ts'
import { deleteKeysOf, REDIS_URL } from '../servers/redis.ts'
import { unique } from '../temp.ts'
import { until } from '../until.ts'
import { type OpenEngine, openEngine } from './engine-in-process.ts'
import type { JumpClock } from './jump-clock.ts'

/** The wires over which engines notify each other, as settings. */
export const WIRES: Record<string, Record<string, string>> = {
  PostgreSQL: {},
  Redis: { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL },
}

export class Cluster {
  readonly storeFile: string
  readonly engines: readonly OpenEngine[]
  readonly clock: JumpClock
  #turn = 0

  private constructor(storeFile: string, engines: readonly OpenEngine[], clock: JumpClock) {
    this.storeFile = storeFile
    this.engines = engines
    this.clock = clock
  }

  static async open(count: number, clock: JumpClock, env: Record<string, string>): Promise<Cluster> {
    const storeFile = await freshSchema()
    if (env.ENGINE_LIMITER) onCleanup(() => deleteKeysOf(storeFile))
    const engines: OpenEngine[] = []
    for (let i = 0; i < count; i++) engines.push(await openEngine({ storeFile, clock, env }))
    return new Cluster(storeFile, engines, clock)
  }

  get apis(): Api[] {
    return this.engines.map(({ api }) => api)
  }

  /** The client of the next engine. */
  get api(): Api {
    return this.apis[this.#turn++ % this.engines.length] as Api
  }

  /** Registers a workflow, and waits until every engine knows it. */
  async workflow(handler: Handler, registration: Record<string, unknown>): Promise<Registered> {
    const name = unique('shared')
    const runner = new PlainRunner({ app: name, workflows: { [name]: { handler, registration } } })
    await (await runner.listen()).register(this.api)
    for (const api of this.apis) {
      await until(async () => ((await api.get(`/runners?app=${name}`)).json as unknown[]).length > 0, {
        what: `${name} on every engine`,
      })
    }
    return { name, record: runner.record, runner }
  }

  /** Sends these events at once, each to the next engine. */
  sendEach(events: readonly Record<string, unknown>[]): Promise<Accepted[]> {
    return Promise.all(events.map(event => this.api.send(event)))
  }

  /** Sends one GET to every engine. */
  getFromEach(path: string): Promise<Answer[]> {
    return Promise.all(this.apis.map(api => api.get(path)))
  }
}

export interface Registered {
  name: string
  record: PlainRunner['record']
  runner: PlainRunner
}
