// D1: a backlog of webhook deliveries to one fast server. D2: how soon a delivery to a healthy server arrives, alone and together
// with a hundred servers that never answer. A workflow of this process sends the deliveries as custom ones.

import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/kit/until.ts'
import { Api } from '../load/api.ts'
import { measured } from '../load/loop.ts'
import { percentiles } from '../measure/latency.ts'
import { nowUs } from '../measure/profile.ts'
import { cpuFigures, type Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { openServer } from '../rig/server.ts'
import { BENCH_APP } from '../rig/workflows.ts'

const SENDS_A_RUN = 500
const D1_DELIVERIES_A_SECOND = 3000
const DEAD = 100
const SENDS_TO_EACH_DEAD = 20
/** Time from one delivery of D2 to the next. */
const D2_PACE_MS = 10
const WARM_UP = 300
const PATIENCE_MS = 600_000

/**
 * Opens a runner whose workflow sends to the URLs of its event, a fast server, and a server on many addresses that never answers.
 */
async function openServers(rig: Rig) {
  const api = new Api(rig.engine.origin)
  const arrivals: number[] = []
  let [hung, requestedAt] = [0, 0]
  let onArrival = () => {}
  const sink = await openServer((_, reply) => {
    arrivals.push(performance.now())
    reply(204, '')
    onArrival()
  })
  const dead = await openServer(() => {
    hung++
  })
  const runner = await openServer((text, reply) => {
    const { event, steps } = JSON.parse(text) as { event: { data: { urls: string[] } }; steps: object }
    if (Object.keys(steps).length > 0) return reply(200, '{"data":null,"logs":[]}')
    const opcodes = event.data.urls.map((webhookUrl, i) => ({
      op: 'Webhook',
      id: createHash('sha256').update(`send ${i}`).digest('hex'),
      name: `send ${i}`,
      webhookUrl,
      data: { n: i, order: 'an order of some length' },
    }))
    reply(206, JSON.stringify({ opcodes, logs: [] }))
    requestedAt = performance.now()
  })
  await api.post('/register', { app: BENCH_APP, url: `${runner.origin}/invoke`, workflows: [{ name: 'send' }] })
  /** Starts a run that sends to each of the URLs. */
  const send = (urls: readonly string[]) => api.post('/events', { name: 'send', app: BENCH_APP, data: { urls } })
  const sinkUrl = `${sink.origin}/hook`
  return {
    api,
    arrivals,
    send,
    sinkUrl,
    hung: () => hung,
    /** For the engine, each loopback address is a different server. */
    deadUrl: (i: number) => `${dead.origin.replace('127.0.0.1', `127.0.1.${i + 1}`)}/hook`,
    /** Sends deliveries in sequence; resolves with the time of each from the runner's answer to its arrival. */
    async latencies(count: number): Promise<number[]> {
      const found: number[] = []
      while (found.length < count) {
        const from = performance.now()
        const arrived = new Promise<void>(resolve => {
          onArrival = resolve
        })
        await send([sinkUrl])
        await arrived
        found.push((arrivals.at(-1) as number) - requestedAt)
        await pause(Math.max(0, D2_PACE_MS - (performance.now() - from)))
      }
      return found
    },
    async close() {
      for (const server of [sink, dead, runner]) server.close()
      await api.close()
    },
  }
}

export function d1(options: BenchOptions): Promise<Outcome> {
  return onRig(options, { kind: 'none' }, async rig => {
    const servers = await openServers(rig)
    const { arrivals, api } = servers
    const total = Math.ceil((options.seconds * D1_DELIVERIES_A_SECOND) / SENDS_A_RUN) * SENDS_A_RUN
    const { cpu } = await measured(rig, async () => {
      const fromUs = nowUs()
      for (let i = 0; i < total / SENDS_A_RUN; i++) await servers.send(Array(SENDS_A_RUN).fill(servers.sinkUrl))
      await until(() => arrivals.length >= total, { what: `${total} deliveries`, deadlineMs: PATIENCE_MS })
      const toUs = nowUs()
      const seconds = (toUs - fromUs) / 1e6
      return { runs: total, seconds, runsPerS: total / seconds, latenciesMs: [], fromUs, toUs }
    })
    // The backlog grows in the first quarter, and the last twentieth is its end.
    const [from, to] = [Math.floor(total * 0.25), Math.floor(total * 0.95)]
    const seconds = ((arrivals[to] as number) - (arrivals[from] as number)) / 1000
    const problems = arrivals.length === total ? [] : [`${arrivals.length} of ${total} deliveries arrived`]
    for (const status of ['failed', 'exhausted', 'dead']) {
      const found = await api.get<unknown[]>(`/webhook-deliveries?status=${status}&limit=1`)
      if (found.length > 0) problems.push(`some deliveries are ${status}`)
    }
    await servers.close()
    return {
      title: 'webhook deliveries to one fast server',
      figures: { deliveries: { total, 'deliveries/s': (to - from) / seconds }, ...cpuFigures(cpu, total) },
      notes: [
        'a run is a delivery here; the window is from the first quarter of the arrivals to their last twentieth',
        'the load is the process that is also the server and the runner',
      ],
      problems,
    }
  })
}

export function d2(options: BenchOptions): Promise<Outcome> {
  return onRig(options, { kind: 'none' }, async rig => {
    const servers = await openServers(rig)
    const count = Math.ceil((options.seconds * 1000) / D2_PACE_MS)
    await servers.latencies(WARM_UP)
    const alone = percentiles(await servers.latencies(count))
    const dead = Array.from({ length: DEAD }, (_, i) => servers.deadUrl(i))
    for (let i = 0; i < SENDS_TO_EACH_DEAD; i++) await servers.send(dead)
    await until(() => servers.hung() >= DEAD, { what: 'posts to the dead' })
    const beside = percentiles(await servers.latencies(count))
    const hung = servers.hung()
    await servers.close()
    return {
      title: `a healthy server beside ${DEAD} that never answer`,
      figures: {
        'alone ms': { ...alone },
        'beside the dead ms': { ...beside },
        share: { 'p99 beside / alone': beside.p99 / alone.p99, 'posts to the dead': hung },
      },
      notes: ['from the answer of the runner that requests the delivery to the POST at its server'],
    }
  })
}
