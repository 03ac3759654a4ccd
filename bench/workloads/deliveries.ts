// D1: a backlog of webhook deliveries to one fast server. D2: how soon a delivery to a healthy server arrives, alone
// and beside a hundred servers that never answer. The deliveries are custom ones, sent by workflows.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { EventPoster } from '../load/event-poster.ts'
import { CpuMeter } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import { cpuFigures, type Result } from '../report/report.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import type { BenchOptions } from '../rig/options.ts'

const APP = 'bench'
const SENDS_A_RUN = 500
const D1_DELIVERIES_A_SECOND = 3000
const DEAD = 100
const SENDS_TO_EACH_DEAD = 20
/** Number of deliveries of D2, once alone and once beside the dead servers. */
const D2_PACE_MS = 10
const WARM_UP = 300

export async function d1(options: BenchOptions): Promise<Result[]> {
  const rig = await DeliveryRig.open(options)
  try {
    const total = Math.ceil((options.seconds * D1_DELIVERIES_A_SECOND) / SENDS_A_RUN) * SENDS_A_RUN
    const meter = new CpuMeter({ engine: rig.engine.pid, 'sink, runner and load': process.pid })
    for (let i = 0; i < total / SENDS_A_RUN; i++) await rig.send(Array(SENDS_A_RUN).fill(rig.sinkUrl))
    await rig.arrived(total)
    const cpu = meter.read()
    // The backlog grows in the first quarter, and the last twentieth is its end.
    const [from, to] = [Math.floor(total * 0.25), Math.floor(total * 0.95)]
    const seconds = ((rig.arrivals[to] as number) - (rig.arrivals[from] as number)) / 1000
    const result: Result = {
      workload: 'D1',
      title: 'webhook deliveries to one fast server',
      figures: {
        deliveries: { total, 'deliveries/s': (to - from) / seconds },
        ...cpuFigures(cpu, total),
      },
      notes: [
        'a run is a delivery here; the window is from the first quarter of the arrivals to their last twentieth',
      ],
      problems: await rig.problems(total),
      profiles: [],
    }
    return [result]
  } finally {
    await rig.close()
  }
}

export async function d2(options: BenchOptions): Promise<Result[]> {
  const rig = await DeliveryRig.open(options)
  try {
    const count = Math.ceil((options.seconds * 1000) / D2_PACE_MS)
    await rig.latencies(WARM_UP)
    const alone = percentiles(await rig.latencies(count))
    const dead = Array.from({ length: DEAD }, (_, i) => rig.deadUrl(i))
    for (let i = 0; i < SENDS_TO_EACH_DEAD; i++) await rig.send(dead)
    await rig.hanging(DEAD)
    const beside = percentiles(await rig.latencies(count))
    const result: Result = {
      workload: 'D2',
      title: `a healthy server beside ${DEAD} that never answer`,
      figures: {
        'alone ms': { ...alone },
        'beside the dead ms': { ...beside },
        share: { 'p99 beside / alone': beside.p99 / alone.p99, 'posts to the dead': rig.hung },
      },
      notes: ['from the answer of the runner that requests the delivery to the POST at its server'],
      problems: [],
      profiles: [],
    }
    return [result]
  } finally {
    await rig.close()
  }
}

/** An engine, and in this process a runner, a fast server, and a server on many addresses that never answers. */
class DeliveryRig {
  readonly engine: EngineProcess
  readonly #poster: EventPoster
  readonly #servers: Servers
  readonly #dir: string

  private constructor(parts: { engine: EngineProcess; servers: Servers; dir: string }) {
    this.engine = parts.engine
    this.#servers = parts.servers
    this.#dir = parts.dir
    this.#poster = new EventPoster(parts.engine.origin)
  }

  static async open(options: BenchOptions): Promise<DeliveryRig> {
    const dir = mkdtempSync(join(options.dir, 'perdure-bench-'))
    const engineOptions = {
      port: await freePort(),
      databaseFile: join(dir, 'engine.db'),
      nodeFlags: options.nodeFlags,
    }
    const engine = await EngineProcess.start(engineOptions)
    const servers = await Servers.open()
    const registration = { app: APP, url: servers.runnerUrl, workflows: [{ name: 'send' }] }
    const response = await fetch(`${engine.origin}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registration),
    })
    if (!response.ok) throw new Error(`the runner was refused: ${response.status} ${await response.text()}`)
    return new DeliveryRig({ engine, servers, dir })
  }

  get sinkUrl(): string {
    return this.#servers.sinkUrl
  }

  get arrivals(): readonly number[] {
    return this.#servers.arrivals
  }

  get hung(): number {
    return this.#servers.hung
  }

  deadUrl(i: number): string {
    return this.#servers.deadUrl(i)
  }

  /** Starts a run that sends to each of the URLs. */
  async send(urls: readonly string[]): Promise<void> {
    await this.#poster.send({ name: 'send', app: APP, data: { urls } })
  }

  arrived(count: number): Promise<void> {
    return this.#servers.until(() => this.arrivals.length >= count)
  }

  hanging(count: number): Promise<void> {
    return this.#servers.until(() => this.hung >= count)
  }

  /**
   * Sends deliveries in sequence at the given pace; returns the time of each from the runner's answer to its arrival.
   */
  async latencies(count: number): Promise<number[]> {
    const found: number[] = []
    for (let i = 0; i < count; i++) {
      const startedAt = performance.now()
      const expected = this.arrivals.length + 1
      await this.send([this.sinkUrl])
      await this.arrived(expected)
      found.push((this.arrivals[expected - 1] as number) - this.#servers.sentAt)
      const restMs = D2_PACE_MS - (performance.now() - startedAt)
      if (restMs > 0) await new Promise(resolve => setTimeout(resolve, restMs))
    }
    return found
  }

  /** Problems in the engine's log of deliveries. */
  async problems(total: number): Promise<string[]> {
    const problems: string[] = []
    if (this.arrivals.length !== total)
      problems.push(`${this.arrivals.length} of ${total} deliveries arrived`)
    for (const status of ['failed', 'exhausted', 'dead']) {
      const response = await fetch(`${this.engine.origin}/webhook-deliveries?status=${status}&limit=1`)
      if (((await response.json()) as unknown[]).length > 0) problems.push(`some deliveries are ${status}`)
    }
    return problems
  }

  async close(): Promise<void> {
    await this.engine.stop('SIGKILL')
    await Promise.all([this.#poster.close(), this.#servers.close()])
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

class Servers {
  readonly arrivals: number[] = []
  hung = 0
  /** When the runner last requested a delivery. */
  sentAt = 0
  readonly #waiting = new Set<() => void>()
  readonly #runner = createServer((request, response) => void this.#invoke(request, response))
  readonly #sink = createServer((request, response) => {
    this.arrivals.push(performance.now())
    request.resume()
    response.writeHead(204).end()
    this.#checkWaiting()
  })
  readonly #dead = createServer(() => {
    this.hung++
    this.#checkWaiting()
  })

  static async open(): Promise<Servers> {
    const servers = new Servers()
    for (const server of servers.#all)
      await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve))
    return servers
  }

  get #all() {
    return [this.#runner, this.#sink, this.#dead]
  }

  get runnerUrl(): string {
    return `http://127.0.0.1:${(this.#runner.address() as AddressInfo).port}/invoke`
  }

  get sinkUrl(): string {
    return `http://127.0.0.1:${(this.#sink.address() as AddressInfo).port}/hook`
  }

  /** For the engine, each loopback address is a server of its own. */
  deadUrl(i: number): string {
    return `http://127.0.1.${i + 1}:${(this.#dead.address() as AddressInfo).port}/hook`
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const check = () => {
        if (!condition()) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      check()
    })
  }

  async close(): Promise<void> {
    for (const server of this.#all) {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }

  #checkWaiting(): void {
    for (const check of [...this.#waiting]) check()
  }

  async #invoke(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { event, steps } = JSON.parse(text) as { event: { data: { urls: string[] } }; steps: object }
    const isDone = Object.keys(steps).length > 0
    const opcodes = event.data.urls.map((webhookUrl, i) => {
      const id = createHash('sha256').update(`send ${i}`).digest('hex')
      return {
        op: 'Webhook',
        id,
        name: `send ${i}`,
        webhookUrl,
        data: { n: i, order: 'an order of some length' },
      }
    })
    const body = JSON.stringify(isDone ? { data: null, logs: [] } : { opcodes, logs: [] })
    response.writeHead(isDone ? 200 : 206, { 'content-type': 'application/json' }).end(body)
    if (!isDone) this.sentAt = performance.now()
  }
}
