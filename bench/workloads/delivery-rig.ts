// The setup of D1 and D2: an engine, a runner whose workflow sends deliveries, and the servers that get them.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { EventPoster } from '../load/event-poster.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import type { BenchOptions } from '../rig/options.ts'
import { BENCH_APP } from '../rig/workflows.ts'

/** An engine, and in this process a runner, a fast server, and a server on many addresses that never answers. */
export class DeliveryRig {
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
    const registration = { app: BENCH_APP, url: servers.runnerUrl, workflows: [{ name: 'send' }] }
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
    await this.#poster.send({ name: 'send', app: BENCH_APP, data: { urls } })
  }

  arrived(count: number): Promise<void> {
    return this.#servers.until(() => this.arrivals.length >= count)
  }

  hanging(count: number): Promise<void> {
    return this.#servers.until(() => this.hung >= count)
  }

  /**
   * Sends deliveries in sequence, one per `paceMs`; returns the time of each from the runner's answer to its arrival.
   */
  async latencies(count: number, paceMs: number): Promise<number[]> {
    const found: number[] = []
    for (let i = 0; i < count; i++) {
      const startedAt = performance.now()
      const expected = this.arrivals.length + 1
      await this.send([this.sinkUrl])
      await this.arrived(expected)
      found.push((this.arrivals[expected - 1] as number) - this.#servers.requestedAt)
      const restMs = paceMs - (performance.now() - startedAt)
      if (restMs > 0) await new Promise(resolve => setTimeout(resolve, restMs))
    }
    return found
  }

  /** Problems in the engine's log of deliveries. */
  async problems(total: number): Promise<string[]> {
    const problems: string[] = []
    if (this.arrivals.length !== total) problems.push(`${this.arrivals.length} of ${total} deliveries arrived`)
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

/** The runner, the fast server and the server that never answers. */
class Servers {
  readonly arrivals: number[] = []
  hung = 0
  /** When the runner last requested a delivery. */
  requestedAt = 0
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
    for (const server of servers.#all) await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve))
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
    if (!isDone) this.requestedAt = performance.now()
  }
}
