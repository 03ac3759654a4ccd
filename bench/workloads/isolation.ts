// ISOLATION: how soon a run of three steps ends in one namespace while another namespace does its worst: runs that wait for
// room on a Connect runner, invokes that hang, a flood of the highest priority. It has an engine and runners of its own.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import { EngineProcess, freePort } from '../rig/engine-process.ts'
import { keyOf, keysSetting } from '../rig/namespace-keys.ts'
import type { BenchOptions } from '../rig/options.ts'
import { openSchema } from '../rig/schema.ts'
import { answer, SEQUENCE_3 } from '../rig/workflows.ts'

const TRIES = 200
const WAITING = 1500
const HANGING = 1100
const FLOOD = 3000
/** How long a pass of the Connect runner, and of the flood, takes. */
const PASS_MS = 100
const TRY_MS_MAX = 30_000

const LOUD = 'loud'
const QUIET = 'quiet'

/** The namespace that disturbs: it resolves once its runs are there, and says how many of its passes ended. */
type Adversary = (origin: string) => Promise<{ ended(): number; close(): void }>

const ADVERSARIES: Readonly<Record<string, Adversary>> = {
  'nobody else': async () => ({ ended: () => 0, close() {} }),
  [`${WAITING} runs wait for one Connect runner`]: connectRunner,
  [`${HANGING} invokes hang`]: origin => httpRunner(origin, { count: HANGING, registration: {} }),
  [`${FLOOD} runs of priority 1,000,000`]: origin =>
    httpRunner(origin, { count: FLOOD, registration: { priority: '1000000' }, passMs: PASS_MS }),
}

export async function isolation(options: BenchOptions): Promise<Result[]> {
  const figures: Record<string, Figures> = {}
  const problems: string[] = []
  for (const [name, adversary] of Object.entries(ADVERSARIES)) {
    const { times, ended } = await measure(options, adversary)
    const lost = times.filter(ms => ms >= TRY_MS_MAX).length
    if (lost > 0) problems.push(`${name}: ${lost} of ${TRIES} runs did not end within ${TRY_MS_MAX} ms`)
    const { p50, p99, max } = percentiles(times)
    figures[name] = { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, 'passes of the other': ended }
  }
  const title = `${TRIES} runs of 3 steps, one at a time, beside another namespace, on ${options.store ? 'PostgreSQL' : 'SQLite'}`
  return [{ workload: 'ISOLATION', title, figures, notes: [], problems, profiles: [] }]
}

async function measure(options: BenchOptions, adversary: Adversary): Promise<{ times: number[]; ended: number }> {
  const dir = mkdtempSync(join(options.dir, 'perdure-isolation-'))
  const schema = options.store === undefined ? undefined : await openSchema(options.store)
  const engine = await EngineProcess.start({
    port: await freePort(),
    databaseFile: join(dir, 'engine.db'),
    storeUrl: schema?.url,
    nodeFlags: options.nodeFlags,
    env: keysSetting([LOUD, QUIET]),
  })
  const quiet = await QuietRunner.open(engine.origin)
  const loud = await adversary(engine.origin)
  try {
    const times: number[] = []
    for (let n = 0; n < TRIES; n++) times.push(await quiet.timeOf(n))
    return { times, ended: loud.ended() }
  } finally {
    loud.close()
    quiet.close()
    await engine.stop('SIGKILL')
    await schema?.drop()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The runner of the namespace that is disturbed. */
class QuietRunner {
  readonly #origin: string
  readonly #server: Server
  #onFinished: () => void = () => {}

  private constructor(origin: string) {
    this.#origin = origin
    this.#server = invokes((text, response) => {
      const { status, body, left } = answer(JSON.parse(text))
      reply(response, status, body)
      if (left) this.#onFinished()
    })
  }

  static async open(origin: string): Promise<QuietRunner> {
    const runner = new QuietRunner(origin)
    await register(origin, QUIET, { url: await listening(runner.#server), workflows: [{ name: SEQUENCE_3.name }] })
    return runner
  }

  /** Milliseconds from the event to the end of its run. */
  async timeOf(n: number): Promise<number> {
    const from = performance.now()
    let timer: NodeJS.Timeout | undefined
    const finished = new Promise<void>(resolve => {
      this.#onFinished = resolve
      timer = setTimeout(resolve, TRY_MS_MAX)
    })
    await post(this.#origin, QUIET, '/events', { name: SEQUENCE_3.name, data: { n } })
    await finished
    clearTimeout(timer)
    return performance.now() - from
  }

  close(): void {
    close(this.#server)
  }
}

interface Crowd {
  count: number
  registration: object
  /** How long each pass takes; absent: it never ends. */
  passMs?: number
}

async function httpRunner(origin: string, { count, registration, passMs }: Crowd): ReturnType<Adversary> {
  let ended = 0
  const server = invokes((_, response) => {
    if (passMs === undefined) return
    setTimeout(() => {
      ended++
      reply(response, 200, '{"logs":[]}')
    }, passMs)
  })
  await register(origin, LOUD, { url: await listening(server), workflows: [{ name: LOUD, ...registration }] })
  await crowd(origin, count)
  return { ended: () => ended, close: () => close(server) }
}

async function connectRunner(origin: string): ReturnType<Adversary> {
  let ended = 0
  const headers = { authorization: `Bearer ${keyOf(LOUD)}` }
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/connect`, 'engine.connect.v0', { headers })
  const send = (type: string, id: string, payload: object) => socket.send(JSON.stringify({ type, id, payload }))
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () => {
      send('hello', 'hello', { protocolVersion: 1 })
      send('runner.register', 'register', { app: LOUD, runner: 'r1', workflows: [{ name: LOUD }], maxConcurrency: 1 })
    })
    socket.on('message', data => {
      const { type, id } = JSON.parse(String(data)) as { type: string; id: string }
      if (type === 'runner.registered') resolve()
      else if (type === 'error') reject(new Error(String(data)))
      else if (type === 'heartbeat') send('heartbeat.ack', id, {})
      else if (type === 'invoke')
        setTimeout(() => {
          ended++
          if (socket.readyState === WebSocket.OPEN) send('invoke.result', id, { status: 200, body: { logs: [] } })
        }, PASS_MS)
    })
  })
  await crowd(origin, WAITING)
  return { ended: () => ended, close: () => socket.terminate() }
}

async function crowd(origin: string, count: number): Promise<void> {
  let left = count
  const sender = async () => {
    while (left-- > 0) await post(origin, LOUD, '/events', { name: LOUD, data: {} })
  }
  await Promise.all(Array.from({ length: 32 }, sender))
}

function register(origin: string, app: string, fields: object): Promise<void> {
  return post(origin, app, '/register', { app, runner: `${app}-1`, protocolVersion: 1, ...fields })
}

async function post(origin: string, namespace: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${keyOf(namespace)}` }
  const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
}

function invokes(take: (text: string, response: ServerResponse) => void): Server {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => take(Buffer.concat(chunks).toString(), response))
  })
  server.requestTimeout = 0
  server.keepAliveTimeout = 0
  return server
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/invoke`
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body)
}

function close(server: Server): void {
  server.closeAllConnections()
  server.close()
}
