// SCHEDULES: the cost of an engine that keeps very many schedules, and how late it fires a thousand that are due at one
// instant. All are made and read through the API.

import { Agent, request } from 'node:http'
import { CpuMeter } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import { residentBytes } from '../measure/proc.ts'
import type { Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'

/** Schedules that are due at the measured instant. */
const DUE = 1000
/** Requests at once while the schedules are made. */
const IN_FLIGHT = 64
const SETTLE_MS = 5000
const WINDOW_MS = 30_000
/** From the making of the due schedules to their instant. */
const LEAD_MS = 20_000
const PATIENCE_MS = 60_000
const YEAR_MS = 365 * 86_400_000
const EVENT = 'bench/due'

export async function schedules(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  const api = new Api(rig.engine.origin)
  try {
    const kept = options.runs - DUE
    const from = performance.now()
    const nextYear = new Date(Date.now() + YEAR_MS).toISOString()
    await api.putMany(kept, i => [
      `kept-${i}`,
      { every: '24h', startsAt: nextYear, event: { name: 'bench/kept', data: { i } } },
    ])
    const madeS = (performance.now() - from) / 1000
    await pause(SETTLE_MS)
    const meter = new CpuMeter(rig.pids)
    await pause(WINDOW_MS)
    const { shares } = meter.read()
    const cpuS = shares
      .filter(({ process }) => process.startsWith('engine'))
      .reduce((sum, { seconds }) => sum + seconds, 0)
    const dueAt = Math.ceil((Date.now() + LEAD_MS) / 1000) * 1000
    const startsAt = new Date(dueAt).toISOString()
    await api.putMany(DUE, i => [`due-${i}`, { every: '24h', startsAt, event: { name: EVENT, data: { i } } }])
    const isInTime = Date.now() < dueAt
    const arrivals = await api.arrivals(dueAt)
    const late = percentiles(arrivals.map(at => at - dueAt))
    const problems = [...api.problems]
    if (!isInTime) problems.push('the due schedules were made too late')
    if (arrivals.length !== DUE) problems.push(`${arrivals.length} of ${DUE} schedules fired`)
    return [
      {
        workload: 'SCHEDULES',
        title: `${options.runs.toLocaleString('en-US')} schedules, ${DUE} of them due at one instant`,
        figures: {
          make: {
            'schedules/s': kept / madeS,
            'MiB of the engine': (residentBytes(rig.engine.pid) ?? Number.NaN) / 2 ** 20,
          },
          idle: { '% of a core': (100_000 * cpuS) / WINDOW_MS / options.engines },
          fire: {
            'ms late p50': late.p50,
            'ms late p99': late.p99,
            'ms late, the last': Math.max(...arrivals) - dueAt,
          },
        },
        notes: [
          `idle over ${WINDOW_MS / 1000} s; an event is late by the time from the instant to its arrival in the log`,
        ],
        problems,
        profiles: [],
      },
    ]
  } finally {
    api.close()
    await rig.close()
  }
}

class Api {
  readonly problems: string[] = []
  readonly #origin: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })

  constructor(origin: string) {
    this.#origin = origin
  }

  async putMany(count: number, of: (i: number) => [id: string, body: object]): Promise<void> {
    let next = 0
    const one = async (): Promise<void> => {
      while (next < count) {
        const [id, body] = of(next++)
        const { status, text } = await this.#call('PUT', `/schedules/${id}`, JSON.stringify(body))
        if (status >= 300) this.problems.push(`PUT ${id}: ${status} ${text}`)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, one))
  }

  /** The times of arrival of the due events, once all are there. */
  async arrivals(dueAt: number): Promise<number[]> {
    await pause(dueAt - Date.now())
    for (;;) {
      const { text } = await this.#call('GET', `/events?name=${EVENT}&limit=${DUE}`)
      const found = JSON.parse(text) as { receivedAt: string }[]
      if (found.length === DUE || Date.now() > dueAt + PATIENCE_MS)
        return found.map(({ receivedAt }) => Date.parse(receivedAt))
      await pause(250)
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #call(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      const sent = request(this.#origin + path, { agent: this.#agent, method, headers }, response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.max(0, ms)))
}
