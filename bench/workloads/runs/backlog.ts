// BACKLOG: `--runs` runs that wait for a few slow steps: how fast they come in, what they take in memory, and how long the lists
// of a console take beside them.

import { EventPoster } from '../../load/event-poster.ts'
import { percentiles } from '../../measure/latency.ts'
import { residentBytes } from '../../measure/proc.ts'
import type { Figures, Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, SLOW } from '../../rig/workflows.ts'
import { ListsApi } from '../lists-api.ts'

const SENDERS = 64
const READS = [
  '/runs',
  '/runs?status=queued',
  '/runs?status=running',
  `/runs?workflow=${SLOW.name}`,
  `/runs?workflow=${SLOW.name}&status=queued&sort=duration`,
  '/runs?sort=workflow',
  '/runs/stats',
]
const REFUSED_PAUSE_MS = 20

export async function backlog(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  const api = new ListsApi(rig.engine.origin)
  try {
    const before = residentBytes(rig.engine.pid) ?? Number.NaN
    const sent = await send(rig.origins, options.runs)
    const figures: Record<string, Figures> = {
      sent: { 'runs/s': options.runs / sent.seconds, 'answers 503': sent.refused },
      memory: { 'MB more': ((residentBytes(rig.engine.pid) ?? Number.NaN) - before) / 1e6 },
    }
    for (const path of READS) figures[path] = await timed(api, path, options.seconds)
    const problems = [...api.problems, ...sent.problems, ...(await missing(rig.engine.origin, options.runs))]
    return [
      {
        workload: 'BACKLOG',
        title: `lists beside ${options.runs.toLocaleString('en-US')} runs whose steps take a second`,
        figures,
        notes: ['each list is read one request at a time, while the engine keeps as many steps under way as it may'],
        problems,
        profiles: await rig.stopEngine(),
      },
    ]
  } finally {
    api.close()
    await rig.close()
  }
}

/** Sends so many events, a fixed number at a time; a 503 is sent again. */
async function send(origins: readonly string[], count: number) {
  const poster = new EventPoster(origins, { connections: SENDERS })
  const problems: string[] = []
  let [n, refused] = [0, 0]
  const one = () =>
    new Promise<number>(resolve => {
      const body = `{"name":"${SLOW.name}","app":"${BENCH_APP}","data":{"n":${n}}}`
      poster.post(body, false, (status, text) => {
        if (status !== 202 && status !== 503) problems.push(`POST /events: ${status} ${text}`)
        resolve(status)
      })
    })
  const sender = async () => {
    while (n < count && problems.length === 0) {
      n++
      while ((await one()) === 503) {
        refused++
        await new Promise(resolve => setTimeout(resolve, REFUSED_PAUSE_MS))
      }
    }
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: SENDERS }, sender))
  const seconds = (performance.now() - from) / 1000
  await poster.close()
  return { seconds, refused, problems }
}

async function timed(api: ListsApi, path: string, seconds: number): Promise<Figures> {
  const endAt = performance.now() + (seconds * 1000) / READS.length
  const tookMs: number[] = []
  do {
    const from = performance.now()
    await api.get(path)
    tookMs.push(performance.now() - from)
  } while (performance.now() < endAt)
  const { p50, p99, max } = percentiles(tookMs)
  return { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, requests: tookMs.length }
}

/** Every run that was accepted is stored, whatever its state. */
async function missing(origin: string, sent: number): Promise<string[]> {
  const stats = (await (await fetch(`${origin}/runs/stats?app=${BENCH_APP}`)).json()) as { total?: number }
  return stats.total === sent ? [] : [`${sent} runs were accepted, and ${JSON.stringify(stats)} are stored`]
}
