// `cluster`: three engines on one database, and repeated faults: kill -9, a freeze for longer than a lease, every connection to
// the database cut or the server killed, Redis emptied. Nothing acknowledged is lost, no step runs again after its result was
// seen, limits and schedules hold for all engines together, and work continues after each fault.

import { setTimeout as pause } from 'node:timers/promises'
import { LoadClient } from '../../test/faults/kill/client.ts'
import { verdict } from '../../test/faults/kill/verdict.ts'
import { MANY_ATTEMPTS, MemoRecord, workload } from '../../test/faults/kill/workload.ts'
import { violations } from '../../test/kit/engine/violations.ts'
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
  until,
} from '../../test/kit/index.ts'
import { ConnectRunner } from '../../test/kit/runner/connect-runner.ts'
import { terminateBackends } from '../../test/kit/servers/postgres.ts'
import { deleteKeysOf, flushAll } from '../../test/kit/servers/redis.ts'
import { haveServers } from '../../test/servers.ts'
import { currentServers } from '../servers/own-servers.ts'
import type { Finding, Suite } from '../suite.ts'
import { settled } from './settled.ts'

const ORDERS_UNDER_WAY = 8
const LIMIT = 2
/** Longer than a lease. */
const FREEZE_MS = 17_000
const FREEZE_EVERY = 20
const PROGRESS_MS_MAX = 60_000

const ENV = {
  ENGINE_QUEUE: REDIS_URL,
  ENGINE_LIMITER: REDIS_URL,
  ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
  ENGINE_WEBHOOK_SCHEDULE: MANY_ATTEMPTS,
  ENGINE_LOG_LEVEL: 'silent',
}

export const cluster: Suite = {
  proves: 'three engines on PostgreSQL and Redis under kills, freezes, cuts: nothing lost or twice, limits hold',
  unit: 'seconds',
  counts: { quick: 10, full: 3600 },
  deadlineMs: { base: 300_000, each: 1500 },
  async run({ count, random }): Promise<Finding> {
    if (!(await haveServers())) return { counts: {}, problems: [], skipped: ['PostgreSQL or Redis cannot be reached'] }
    const endsAt = performance.now() + count * 1000
    return disturbCluster({ random, isOver: faults => faults > 0 && performance.now() > endsAt })
  },
}

interface Disturbance {
  random: Seeded
  /** Whether that many faults are enough. */
  isOver(faults: number): boolean
}

export async function disturbCluster({ random, isOver }: Disturbance): Promise<Finding> {
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
  // If an event reaches an engine before a registration that was made elsewhere, it meets no trigger there.
  for (const engine of cluster.engines) await knows(new Api(() => engine.url), ['orders', 'extras'])
  const stopHeartbeats = keepRegistered(api, { plain: [steady, extra], socketed })

  const client = new LoadClient({ api, app, whenUp: async () => {}, parallel: ORDERS_UNDER_WAY })
  const posting = postLimited(api)
  const frozen = cluster.freeze(random)
  let faults = 0
  for (; !isOver(faults); faults++) {
    const before = client.ended.size
    await fault(cluster, random)
    const what = `progress after fault ${faults}`
    await until(() => client.ended.size > before, { what, deadlineMs: PROGRESS_MS_MAX })
    if (faults % FREEZE_EVERY === FREEZE_EVERY - 1) await cluster.freeze(random)
    await pause(random.between(100, 800))
  }
  await frozen
  await client.finish(PROGRESS_MS_MAX)
  const posted = await posting.stop()
  await settled({ api, app, client, destination }, PROGRESS_MS_MAX)
  stopHeartbeats()

  const problems = await verdict({ api, app, client, runner: record, hooks: destination.requests })
  const ticks = await api.runs('?app=extras&limit=200')
  return {
    counts: {
      faults,
      'orders acknowledged': client.acknowledged.length,
      'steps executed': record.executedCount,
      'limited runs': posted.length,
    },
    problems: [
      ...cluster.problems,
      // When a socket goes down with another engine, its invoke breaks. That is a fault of the transport, and costs a try.
      ...problems.filter(problem => !/spent \d+ attempts/.test(problem)),
      ...(await unended(api, posted)),
      ...(seen.most > LIMIT ? [`${seen.most} runs were under way at once, the limit is ${LIMIT}`] : []),
      ...(await twiceTicked(api, ticks)),
      ...(await violations(cluster.url)).map(violation => JSON.stringify(violation)),
    ],
  }
}

/** The engines of the suite. Requests go to engines that are up. */
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

  /** Kills one of the engines that are up, and restarts it. */
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

/** Creates a workflow that counts its passes in flight, and a workflow that reports when it was due. */
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

/** Kills and flushes servers that belong to the suite; on other servers, affects only objects that belong to the schema. */
async function fault(cluster: Cluster, random: Seeded): Promise<void> {
  const own = currentServers()
  const choice = random.between(0, 3)
  if (choice <= 1) await cluster.kill(random)
  else if (choice === 2) await (own ? own.restartPostgres() : terminateBackends(cluster.url))
  else await (own ? flushAll() : deleteKeysOf(cluster.url))
}

async function unended(api: Api, runIds: readonly string[]): Promise<string[]> {
  const problems: string[] = []
  for (const runId of runIds)
    await api.reaches(runId, 'succeeded', PROGRESS_MS_MAX).catch(error => problems.push(String(error)))
  return problems
}

/** Checks that each instant of the schedule has one run. */
async function twiceTicked(api: Api, runs: readonly { id: string }[]): Promise<string[]> {
  const ticks = await Promise.all(runs.map(({ id }) => api.run(id)))
  const times = ticks.flatMap(({ input }) => (input as { scheduledAt?: string })?.scheduledAt ?? [])
  if (times.length === 0) return ['the schedule started no run']
  return times.filter((time, i) => times.indexOf(time) < i).map(time => `the schedule started two runs at ${time}`)
}

/** Sends the heartbeats of the runners at an address, and redials the runner behind a socket. */
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

/** Starts limited runs until it is stopped. `stop` returns the ids of the acknowledged runs. */
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
