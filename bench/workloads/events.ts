// EVENTS: how many events per second are accepted (202, so durable) with 1, 100 and 1,000 workflows whose triggers have
// the event's name and a CEL filter that does not match: every event evaluates every filter.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EventPoster } from '../load/event-poster.ts'
import { CpuMeter } from '../measure/cpu-meter.ts'
import { cpuFigures, type Result } from '../report/report.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import type { BenchOptions } from '../rig/options.ts'
import { BENCH_APP } from '../rig/workflows.ts'

const EVENT = 'bench.event'
const TRIGGERS = [1, 100, 1000]
const IN_FLIGHT = 64
const WARM_UP_MS = 1000

export async function events(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const triggers of TRIGGERS) results.push(await measure(options, triggers))
  return results
}

async function measure(options: BenchOptions, triggers: number): Promise<Result> {
  const dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
  const engine = await EngineProcess.start({
    port: await freePort(),
    databaseFile: join(dir, 'engine.db'),
    nodeFlags: options.nodeFlags,
  })
  const load = new Load(engine.origin)
  try {
    await register(engine.origin, triggers)
    load.start()
    await pause(WARM_UP_MS)
    const meter = new CpuMeter({ engine: engine.pid, load: process.pid })
    const [before, startedAt] = [load.accepted, performance.now()]
    await pause(options.seconds * 1000)
    const accepted = load.accepted - before
    const seconds = (performance.now() - startedAt) / 1000
    const cpu = meter.read()
    return {
      workload: 'EVENTS',
      title: `events taken, ${triggers} triggers with a CEL filter`,
      figures: {
        events: { 'events/s': accepted / seconds, 'filters/s': (accepted * triggers) / seconds },
        ...cpuFigures(cpu, accepted),
      },
      notes: ['a run is an event here; no filter matches, so nothing is started'],
      problems: load.problems,
      profiles: [],
    }
  } finally {
    await load.stop()
    await engine.stop('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

async function register(origin: string, triggers: number): Promise<void> {
  const workflows = Array.from({ length: triggers }, (_, i) => ({
    name: `work-${i}`,
    triggers: [{ event: EVENT, if: `event.data.kind == "k${i}" && event.data.total > 100` }],
  }))
  const body = JSON.stringify({ app: BENCH_APP, url: 'http://127.0.0.1:9/invoke', workflows })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${origin}/register`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`POST /register: ${response.status} ${await response.text()}`)
}

/** A closed loop: a fixed number of posts is always in flight. */
class Load {
  readonly #poster: EventPoster
  readonly problems: string[] = []
  accepted = 0
  #stopping = false

  constructor(origin: string) {
    this.#poster = new EventPoster(origin)
  }

  start(): void {
    for (let i = 0; i < IN_FLIGHT; i++) this.#post()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#poster.close()
  }

  #post(): void {
    if (this.#stopping) return
    const body = `{"name":"${EVENT}","data":{"kind":"none","total":${this.accepted}}}`
    this.#poster.post(body, false, (status, text) => {
      if (status === 202) this.accepted++
      else if (!this.#stopping && this.problems.length < 5) this.problems.push(`POST /events: ${status} ${text}`)
      this.#post()
    })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
