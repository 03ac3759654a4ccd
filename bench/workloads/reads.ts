// READS: how long a plain read of one namespace takes while another searches deep in long runs, twenty searches at a time.

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { openPostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { openSqliteStore } from '../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Run } from '../../packages/engine/src/domain/model/run.ts'
import { derivedId } from '../../packages/engine/src/domain/text/ids.ts'
import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import { keyOf, keysSetting } from '../rig/namespace-keys.ts'
import type { BenchOptions } from '../rig/options.ts'
import { openSchema } from '../rig/schema.ts'

const SEARCHES = 20
const LONG_RUNS = 100
const LONG_CHARS = 1_000_000
const SEARCHED = 'searched'
const OTHER = 'other'
/** A pause between two reads, so that they do not load the engine themselves. */
const PAUSE_MS = 5

export async function reads(options: BenchOptions): Promise<Result[]> {
  const dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
  const schema = options.store === undefined ? undefined : await openSchema(options.store)
  const databaseFile = join(dir, 'engine.db')
  try {
    const runId = await fill(schema?.url, databaseFile)
    const engine = await EngineProcess.start({
      port: await freePort(),
      databaseFile,
      storeUrl: schema?.url,
      nodeFlags: options.nodeFlags,
      env: keysSetting([SEARCHED, OTHER]),
    })
    try {
      const figures: Record<string, Figures> = {}
      figures['reads alone'] = (await read(engine.origin, runId, options)).latency
      const searches = new Searches(engine.origin)
      const beside = await read(engine.origin, runId, options)
      figures['beside searches'] = beside.latency
      figures['/healthz meanwhile'] = beside.loop
      figures.searches = searches.figures
      searches.stop()
      const title = `reads beside ${SEARCHES} deep searches of ${LONG_RUNS} runs of 1 MB, on ${schema ? 'PostgreSQL' : 'SQLite'}`
      const notes = ['/healthz touches no store: its times are those of the main event loop']
      return [{ workload: 'READS', title, figures, notes, problems: [], profiles: [] }]
    } finally {
      await engine.stop('SIGKILL')
    }
  } finally {
    await schema?.drop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Writes the runs straight into the store, and answers the id of the one in the other namespace. */
async function fill(url: string | undefined, file: string): Promise<string> {
  const store = await (url === undefined ? openSqliteStore({ file }) : openPostgresStore({ url }))
  const long = JSON.stringify('x'.repeat(LONG_CHARS))
  for (let i = 0; i < LONG_RUNS; i++) {
    const run = endedRun(SEARCHED, i, long)
    await store.commit({ guards: [], changes: [{ type: 'run.created', run }] })
  }
  const other = endedRun(OTHER, LONG_RUNS, '{"n":1}')
  await store.commit({ guards: [], changes: [{ type: 'run.created', run: other }] })
  await store.close()
  return other.id
}

function endedRun(namespace: string, i: number, input: string): Run {
  const createdAt = Date.UTC(2030, 0, 1) + i
  return {
    namespace,
    id: derivedId('run', createdAt, String(i)),
    workflow: 'work',
    app: 'bench',
    status: 'succeeded',
    triggerKind: 'event',
    trigger: { name: 'order/created' },
    input,
    result: '{"done":true}',
    attempt: 1,
    transportTries: 0,
    createdAt,
    startedAt: createdAt,
    startedSeq: 2,
    finishedAt: createdAt,
    finishedSeq: 9,
    fence: 1,
  }
}

/** Reads one run again and again, and asks for the liveness in between. */
async function read(
  origin: string,
  runId: string,
  { seconds }: BenchOptions,
): Promise<{ latency: Figures; loop: Figures }> {
  const agent = new Agent({ keepAlive: true })
  const [latencies, loops]: [number[], number[]] = [[], []]
  for (const from = performance.now(); performance.now() - from < seconds * 1000; await pause(PAUSE_MS)) {
    for (const [path, times] of [
      [`/runs/${runId}`, latencies],
      ['/healthz', loops],
    ] as const) {
      const sentAt = performance.now()
      const status = await get(origin + path, OTHER, agent)
      if (status !== 200) throw new Error(`GET ${path}: ${status}`)
      times.push(performance.now() - sentAt)
    }
  }
  agent.destroy()
  const figuresOf = (times: readonly number[]): Figures => {
    const { p50, p99, max } = percentiles(times)
    return { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, requests: times.length }
  }
  return { latency: figuresOf(latencies), loop: figuresOf(loops) }
}

/** A closed loop of searches that match nothing. */
class Searches {
  readonly #counts = new Map<number, number>()
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SEARCHES })
  readonly #origin: string
  #isStopped = false

  constructor(origin: string) {
    this.#origin = origin
    for (let i = 0; i < SEARCHES; i++) void this.#search()
  }

  get figures(): Figures {
    return Object.fromEntries([...this.#counts].map(([status, count]) => [`answered ${status}`, count]))
  }

  stop(): void {
    this.#isStopped = true
    this.#agent.destroy()
  }

  async #search(): Promise<void> {
    while (!this.#isStopped) {
      const status = await get(`${this.#origin}/runs?q=nothing&deep=1`, SEARCHED, this.#agent).catch(() => 0)
      this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1)
      if (status === 503) await pause(1000)
    }
  }
}

function get(url: string, namespace: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${keyOf(namespace)}` }
    const call = request(url, { agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('error', reject)
    call.end()
  })
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
