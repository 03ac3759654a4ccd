// STREAMS: what an event costs while thousands of streams are open that it does not concern, and, for comparison, while all
// of them are of its namespace. The streams are plain sockets of this process.

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { closeReaders, openReaders } from '../load/readers.ts'
import { CpuMeter } from '../measure/cpu-meter.ts'
import type { Figures, Result } from '../report/report.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import { keyOf, keysSetting } from '../rig/namespace-keys.ts'
import type { BenchOptions } from '../rig/options.ts'
import { openSchema } from '../rig/schema.ts'

const STREAMS = 5000
/** Namespaces of the idle streams, each with a key. */
const NAMESPACES = 50
const IN_FLIGHT = 16
const WARM_UP_MS = 1000
const ROUNDS = 2
const PATHS = ['/runs/stream', '/events/stream']

const OWN = 'own'
const OTHERS = Array.from({ length: NAMESPACES }, (_, i) => `other-${i}`)

export async function idleStreams(options: BenchOptions): Promise<Result[]> {
  const dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
  const schema = options.store === undefined ? undefined : await openSchema(options.store)
  const engine = await EngineProcess.start({
    port: await freePort(),
    databaseFile: join(dir, 'engine.db'),
    storeUrl: schema?.url,
    nodeFlags: options.nodeFlags,
    env: keysSetting([OWN, ...OTHERS]),
  })
  try {
    const figures: Record<string, Figures> = {}
    for (let round = 1; round <= ROUNDS; round++) {
      figures[`no stream, round ${round}`] = await measure(engine, options)
      const others = await openStreams(engine, OTHERS)
      figures[`${STREAMS} of others, round ${round}`] = await measure(engine, options)
      closeReaders(others)
    }
    const own = await openStreams(engine, [OWN])
    figures[`${STREAMS} of its own`] = await measure(engine, options)
    closeReaders(own)
    const title = `events beside ${STREAMS} open streams, on ${schema ? 'PostgreSQL' : 'SQLite'}`
    const notes = ['half of the streams are /runs/stream, half /events/stream; the events start nothing']
    return [{ workload: 'STREAMS', title, figures, notes, problems: [], profiles: [] }]
  } finally {
    await engine.stop('SIGKILL')
    await schema?.drop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function measure(engine: EngineProcess, { seconds }: BenchOptions): Promise<Figures> {
  const load = new Load(engine.origin)
  await pause(WARM_UP_MS)
  const meter = new CpuMeter({ engine: engine.pid })
  const [before, from] = [load.accepted, performance.now()]
  await pause(seconds * 1000)
  const events = load.accepted - before
  const wallSeconds = (performance.now() - from) / 1000
  const { shares, othersShare } = meter.read()
  load.stop()
  const mainSeconds = shares[0]?.mainSeconds ?? Number.NaN
  return {
    'events/s': events / wallSeconds,
    'us of the main thread an event': (mainSeconds * 1e6) / events,
    'others % of the machine': 100 * othersShare,
  }
}

/** A closed loop of posts. */
class Load {
  accepted = 0
  #isStopped = false
  readonly #agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
    for (let i = 0; i < IN_FLIGHT; i++) this.#post()
  }

  stop(): void {
    this.#isStopped = true
    this.#agent.destroy()
  }

  #post(): void {
    if (this.#isStopped) return
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf(OWN)}` }
    const call = request(`${this.#origin}/events`, { method: 'POST', agent: this.#agent, headers }, response => {
      response.resume().on('end', () => {
        if (response.statusCode === 202) this.accepted++
        this.#post()
      })
    })
    call.on('error', error => {
      if (!this.#isStopped) throw error
    })
    call.end('{"name":"bench.event","data":{"n":1}}')
  }
}

function openStreams({ origin }: EngineProcess, namespaces: readonly string[]): Promise<Socket[]> {
  const requests = Array.from({ length: STREAMS }, (_, at) => ({
    path: PATHS[at % PATHS.length] as string,
    key: keyOf(namespaces[at % namespaces.length] as string),
  }))
  return openReaders(origin, requests)
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
