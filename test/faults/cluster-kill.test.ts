// Three engines on one database, and repeated faults: kill -9, a freeze for longer than a lease, every session of the
// database cut, Redis emptied. Nothing that was acknowledged is lost, no step runs again whose result was seen,
// limits and schedules hold for all engines together, and work goes on soon after each fault. `PERDURE_FAULTS=200`
// for the long run, `PERDURE_SEED` to repeat the choices of an earlier run. `PERDURE_RESTART` is a command that
// restarts PostgreSQL, for servers that nothing else uses: then all of Redis is flushed, too.

import { exec } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import {
  Api,
  EngineProcess,
  freshSchema,
  type Handler,
  onCleanup,
  openDestination,
  PlainRunner,
  REDIS_URL,
  returned,
  type Seeded,
  seeded,
  until,
} from '../kit/index.ts'
import { ConnectRunner } from '../kit/runner/connect-runner.ts'
import { terminateSessions } from '../kit/servers/postgres.ts'
import { deleteKeysOf, flushAll } from '../kit/servers/redis.ts'
import { LoadClient } from './kill/client.ts'
import { verdict } from './kill/verdict.ts'
import { hasOpenDeliveries, MANY_ATTEMPTS, MemoRecord, workload } from './kill/workload.ts'

const FAULTS = Number(process.env.PERDURE_FAULTS ?? 3)
const RESTART = process.env.PERDURE_RESTART
const SEED = Number(process.env.PERDURE_SEED ?? Date.now() % 1_000_000)
const ORDERS_UNDER_WAY = 8
const LIMIT = 2
/** Longer than a lease. */
const FREEZE_MS = 17_000
const PROGRESS_MS_MAX = 60_000
const TITLE = `${FAULTS} faults over three engines: nothing lost, nothing twice, no limit broken, progress after each`

const ENV = {
  ENGINE_QUEUE: REDIS_URL,
  ENGINE_LIMITER: REDIS_URL,
  ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
  ENGINE_WEBHOOK_SCHEDULE: MANY_ATTEMPTS,
  ENGINE_LOG_LEVEL: 'silent',
}

/** The engines of the test. Requests go to those that are up. */
class Cluster {
  readonly url: string
  readonly engines: EngineProcess[]
  readonly #up = new Set<EngineProcess>()
  readonly api: Api
  readonly problems: string[] = []
  #turn = 0

  constructor(url: string) {
    this.url = url
    this.engines = [1, 2, 3].map(() => new EngineProcess({ env: ENV, storeFile: url }))
    this.api = new Api(() => this.#next().url)
  }

  async start(): Promise<this> {
    await Promise.all(this.engines.map(engine => this.#start(engine)))
    return this
  }

  /** Kills one of the engines that are up, and starts it again. */
  async kill(random: Seeded): Promise<void> {
    const engine = this.#pick(random)
    this.#up.delete(engine)
    await engine.kill9()
    await this.#start(engine)
  }

  /** Stops one engine for longer than its leases last, and continues it. */
  async freeze(random: Seeded): Promise<void> {
    const engine = this.#pick(random)
    this.#up.delete(engine)
    engine.signal('SIGSTOP')
    await pause(FREEZE_MS)
    engine.signal('SIGCONT')
    this.#up.add(engine)
  }

  /** Starts the engine. Only a kill may end it. */
  async #start(engine: EngineProcess): Promise<void> {
    this.#up.add(await engine.start())
    void engine.exit.then(({ code, signal, stderr }) => {
      if (signal !== 'SIGKILL') this.problems.push(`an engine ended by itself: ${code} ${signal} ${stderr}`)
    })
  }

  #pick(random: Seeded): EngineProcess {
    return [...this.#up][random.between(0, this.#up.size - 1)] as EngineProcess
  }

  #next(): EngineProcess {
    const up = [...this.#up]
    return up[this.#turn++ % up.length] as EngineProcess
  }
}

/** A workflow that counts its passes in flight, and a workflow that reports when it was due. */
function extras() {
  const seen = { underWay: 0, most: 0, passes: 0 }
  const limited: Handler = async () => {
    seen.passes++
    seen.most = Math.max(seen.most, ++seen.underWay)
    await pause(15)
    seen.underWay--
    return returned()
  }
  const workflows = {
    limited: { handler: limited, registration: { concurrency: { limit: LIMIT } } },
    ticking: { handler: () => returned(), registration: { triggers: [{ cron: '* * * * * *' }] } },
  }
  return { seen, workflows }
}

test(TITLE, { timeout: 120_000 + FAULTS * 15_000 }, async () => {
  const random = seeded(SEED)
  const destination = await openDestination()
  const cluster = await new Cluster(await freshSchema()).start()
  const { api } = cluster
  const record = new MemoRecord()
  const workflows = workload(destination.url)
  const app = 'orders'
  const steady = await new PlainRunner({ app, runner: 'steady', record, workflows }).listen()
  const socketed = new ConnectRunner({ app, runner: 'socketed', record, workflows })
  const { seen, workflows: others } = extras()
  const extra = await new PlainRunner({ app: 'extras', runner: 'extra', workflows: others }).listen()
  for (const runner of [steady, socketed, extra]) await runner.register(api)
  // An event that reaches an engine before a registration made elsewhere meets no trigger there.
  for (const engine of cluster.engines) await knows(new Api(() => engine.url), ['orders', 'extras'])
  const stopHeartbeats = keepRegistered(api, { plain: [steady, extra], socketed })

  const client = new LoadClient({ api, app, whenUp: async () => {}, parallel: ORDERS_UNDER_WAY })
  const posting = postLimited(api)
  const frozen = cluster.freeze(random)
  for (let i = 0; i < FAULTS; i++) {
    const before = client.ended.size
    await fault(cluster, random)
    await until(() => client.ended.size > before, {
      what: `progress after fault ${i}`,
      deadlineMs: PROGRESS_MS_MAX,
    })
    if (i % 20 === 19) await cluster.freeze(random)
    await pause(random.between(100, 800))
  }
  await frozen
  await client.finish(PROGRESS_MS_MAX)
  const posted = await posting.stop()
  const quiet = async () => {
    for (const status of ['queued', 'running'])
      if ((await api.runs(`?app=${app}&status=${status}&limit=1`)).length > 0) return false
    if (await hasOpenDeliveries(api, app)) return false
    const delivered = new Set(destination.requests.map(({ body }) => (JSON.parse(body) as { token: string }).token))
    return client.acknowledged.every(({ token }) => delivered.has(token))
  }
  await until(quiet, { deadlineMs: PROGRESS_MS_MAX }).catch(() => {})
  stopHeartbeats()

  const summary = `seed ${SEED}: ${FAULTS} faults, ${client.acknowledged.length} orders acknowledged, ${record.executedCount} steps, ${posted.length} limited runs`
  console.log(summary)
  expect(cluster.problems, summary).toEqual([])
  const problems = await verdict({ api, app, client, runner: record, hooks: destination.requests })
  // A socket that went down with another engine breaks its invoke. That fault is the transport's, and costs a try.
  const counted = problems.filter(problem => !/spent \d+ attempts/.test(problem))
  expect(counted.slice(0, 40), `${counted.length} differences; ${summary}`).toEqual([])
  for (const runId of posted) await api.reaches(runId, 'succeeded', PROGRESS_MS_MAX)
  expect(seen.most, summary).toBeLessThanOrEqual(LIMIT)
  const ticks = await Promise.all((await api.runs('?app=extras&limit=200')).map(({ id }) => api.run(id)))
  const times = ticks.flatMap(({ input }) => (input as { scheduledAt?: string })?.scheduledAt ?? [])
  expect(times.length).toBeGreaterThan(0)
  expect(new Set(times).size, summary).toBe(times.length)
})

async function fault(cluster: Cluster, random: Seeded): Promise<void> {
  const choice = random.between(0, 3)
  if (choice <= 1) await cluster.kill(random)
  else if (choice === 2) await (RESTART ? promisify(exec)(RESTART) : terminateSessions(cluster.url))
  else await (RESTART ? flushAll() : deleteKeysOf(cluster.url))
}

/** Sends the heartheartbeats of the runners at an address, and redials the runner behind a socket. */
function keepRegistered(api: Api, { plain, socketed }: { plain: PlainRunner[]; socketed: ConnectRunner }): () => void {
  const heartbeats = setInterval(() => {
    for (const runner of plain) void runner.register(api).catch(() => {})
  }, 10_000)
  let isDialling = false
  const dials = setInterval(() => {
    if (socketed.isConnected || isDialling) return
    isDialling = true
    void socketed
      .rejoin(api)
      .catch(() => {})
      .finally(() => {
        isDialling = false
      })
  }, 200)
  const stop = () => {
    clearInterval(heartbeats)
    clearInterval(dials)
  }
  onCleanup(stop)
  return stop
}

/** Resolves when the engine knows workflows of the apps. */
async function knows(api: Api, apps: readonly string[]): Promise<void> {
  await until(async () => {
    const { json } = await api.get('/workflows')
    const known = new Set((json as { app: string }[]).map(({ app }) => app))
    return apps.every(app => known.has(app))
  })
}

/** Starts limited runs until it is stopped; `stop` answers the ids of the acknowledged runs. */
function postLimited(api: Api): { stop(): Promise<string[]> } {
  const posted: string[] = []
  let isOver = false
  const going = (async () => {
    while (!isOver) {
      const answer = await api.post('/events', { name: 'limited' }).catch(() => undefined)
      if (answer?.status === 202) posted.push((answer.json as { runId: string }).runId)
      await pause(100)
    }
  })()
  return {
    async stop() {
      isOver = true
      await going
      return posted
    },
  }
}
