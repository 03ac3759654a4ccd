// IDLE, SCHEDULES and BULK: an engine without work, with very many schedules, and with one bulk action: its CPU, its queries, and
// the delays of its schedules and of its event loop.

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/kit/until.ts'
import { Api } from '../load/api.ts'
import { Loop } from '../load/loop.ts'
import { CpuMeter, secondsOf } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import type { Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { databaseName } from '../rig/store.ts'

/** A freshly started engine polls more often. */
const SETTLE_MS = 5000
/** Long enough to include everything that happens once a minute. */
const IDLE_MS = 60_000

/** Returns the CPU seconds of all engines while nobody calls them. */
async function restingSeconds(rig: Rig, forMs: number): Promise<number> {
  const meter = new CpuMeter(rig.pids)
  await pause(forMs)
  return secondsOf(meter.read(), 'engine')
}

/** Measures the CPU of an engine with one registered runner and, on PostgreSQL, its queries, counted by a proxy. */
export async function idle(options: BenchOptions): Promise<Outcome> {
  const counter = options.store === undefined ? undefined : await countQueries(options.store)
  try {
    return await onRig({ ...options, store: counter?.url }, {}, async rig => {
      await pause(SETTLE_MS)
      const before = counter?.queries() ?? 0
      const seconds = await restingSeconds(rig, IDLE_MS)
      const perMinute = (count: number) => count / options.engines
      return {
        title: `${options.engines} engine(s) without work, on ${databaseName(options)}`,
        figures: {
          'an engine a minute': {
            'cpu ms': perMinute(1000 * seconds),
            ...(counter && { queries: perMinute(counter.queries() - before) }),
          },
        },
      }
    })
  } finally {
    counter?.close()
  }
}

/** Opens a proxy between engines and database that counts queries: simple queries, and executions of prepared ones. */
async function countQueries(address: string) {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let queries = 0
  /** A message is a letter, a length that includes itself, and a body; the first message of a session has no letter. */
  const reader = () => {
    let rest = Buffer.alloc(0)
    let isFirst = true
    return (data: Buffer) => {
      rest = Buffer.concat([rest, data])
      for (;;) {
        const head = isFirst ? 0 : 1
        if (rest.length < head + 4) return
        const length = head + rest.readUInt32BE(head)
        if (rest.length < length) return
        if (!isFirst && 'QE'.includes(String.fromCharCode(rest[0] as number))) queries++
        isFirst = false
        rest = rest.subarray(length)
      }
    }
  }
  const server = createServer(client => {
    const database = connect(Number(target.port || 5432), target.hostname)
    client.on('data', reader())
    client.pipe(database).pipe(client)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => [client, database].map(one => one.destroy()))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(address)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url: url.href,
    queries: () => queries,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Schedules that are due at the measured instant. */
const DUE = 1000
/** Number of requests at once while the schedules are created. */
const IN_FLIGHT = 64
const SCHEDULES_MS = 30_000
/** Time from the creation of the due schedules to their instant. */
const LEAD_MS = 20_000
const DAY_MS = 86_400_000

/**
 * Measures the cost of an engine that keeps very many schedules, and how late it fires a thousand that are due at one instant.
 */
export function schedules(options: BenchOptions): Promise<Outcome> {
  return onRig(options, {}, async rig => {
    const api = new Api(rig.engine.origin)
    const problems: string[] = []
    /** Creates this many schedules that fire every day from that time on. */
    const putMany = async (name: string, count: number, at: number) => {
      let i = 0
      const startsAt = new Date(at).toISOString()
      const put = async () => {
        const body = { every: '24h', startsAt, event: { name: `bench/${name}`, data: { i } } }
        const { status, text } = await api.call('PUT', `/schedules/${name}-${i++}`, JSON.stringify(body))
        if (status >= 300) throw new Error(`PUT: ${status} ${text}`)
        return 0
      }
      const loop = new Loop(IN_FLIGHT, put, count)
      const window = await loop.measureAll(DAY_MS)
      problems.push(...loop.problems)
      return window
    }
    const kept = await putMany('kept', options.runs - DUE, Date.now() + 365 * DAY_MS)
    await pause(SETTLE_MS)
    const cpuSeconds = await restingSeconds(rig, SCHEDULES_MS)
    const dueAt = Math.ceil((Date.now() + LEAD_MS) / 1000) * 1000
    await putMany('due', DUE, dueAt)
    if (Date.now() >= dueAt) problems.push('the due schedules were made too late')
    await pause(dueAt - Date.now())
    let fired: { receivedAt: string }[] = []
    const look = async () => {
      fired = await api.get(`/events?name=bench/due&limit=${DUE}`)
      return fired.length === DUE
    }
    await until(look).catch(() => problems.push(`${fired.length} of ${DUE} schedules fired`))
    const late = percentiles(fired.map(({ receivedAt }) => Date.parse(receivedAt) - dueAt))
    await api.close()
    return {
      title: `${options.runs.toLocaleString('en-US')} schedules, ${DUE} of them due at one instant`,
      figures: {
        make: { 'schedules/s': kept.runsPerS, 'MiB of the engine': rig.residentBytes / 2 ** 20 },
        idle: { '% of a core': (100_000 * cpuSeconds) / SCHEDULES_MS / options.engines },
        fire: { 'ms late p50': late.p50, 'ms late p99': late.p99, 'ms late, the last': late.max },
      },
      notes: [
        `idle over ${SCHEDULES_MS / 1000} s; an event is late by the time from the instant to its arrival in the log`,
      ],
      problems,
    }
  })
}

const CANCELLED = 10_000
/** Maximum number of events per request. */
const BATCH = 1000
const SCRAPE_EVERY_MS = 200
const BULK_MS_MAX = 300_000

/**
 * Measures how long a bulk action on many runs blocks the engine's event loop. The runs wait in the queue of a paused workflow.
 */
export function bulk(options: BenchOptions): Promise<Outcome> {
  return onRig(options, {}, async rig => {
    const api = new Api(rig.engine.origin)
    await api.post('/register', { app: 'bulk', url: 'http://127.0.0.1:9/', workflows: [{ name: 'held' }] })
    await api.post('/workflows/bulk/held/pause')
    const events = Array.from({ length: BATCH }, () => ({ name: 'held', data: { text: 'x'.repeat(200) } }))
    for (let made = 0; made < CANCELLED; made += BATCH) await api.post('/events/batch', events)
    await pause(SCRAPE_EVERY_MS)
    const rest = await loopDelay(api, () => pause(SETTLE_MS))
    const from = performance.now()
    let counts: { status?: string; done?: number } = {}
    const acting = await loopDelay(api, async () => {
      const filter = { workflow: 'held', status: 'queued' }
      const { bulkId } = await api.post<{ bulkId: string }>('/bulk', { action: 'cancel', filter })
      const look = async () => {
        counts = await api.get(`/bulk/${bulkId}?limit=1`)
        return counts.status !== 'running'
      }
      await until(look, { what: 'the end of the bulk action', deadlineMs: BULK_MS_MAX })
    })
    const seconds = (performance.now() - from) / 1000
    await api.close()
    const problems = counts.done === CANCELLED ? [] : [`of ${CANCELLED} runs: ${JSON.stringify(counts)}`]
    if (!Number.isFinite(rest) || !Number.isFinite(acting)) problems.push('no delay of the event loop was observed')
    return {
      title: `a bulk action cancels ${CANCELLED.toLocaleString('en-US')} queued runs`,
      figures: {
        rest: { 'ms of the event loop, longest': rest },
        cancel: { 'ms of the event loop, longest': acting, 'runs/s': CANCELLED / seconds },
      },
      notes: ["the longest delay of the event loop by the engine's metrics, which include its resolution of 10 ms"],
      problems,
    }
  })
}

/** Returns the longest delay of the engine's event loop during the work, in ms. Each scrape begins a new measurement. */
async function loopDelay(api: Api, work: () => Promise<unknown>): Promise<number> {
  let longest = Number.NEGATIVE_INFINITY
  const scrape = async () => {
    const { text } = await api.call('GET', '/metrics')
    return 1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1])
  }
  await scrape()
  const scraping = new Loop(1, async () => {
    await pause(SCRAPE_EVERY_MS)
    const delay = await scrape()
    // The metrics have no delay if the loop was observed for too short a time.
    if (Number.isFinite(delay)) longest = Math.max(longest, delay)
    return delay
  })
  await work().finally(() => scraping.stop())
  return longest
}
