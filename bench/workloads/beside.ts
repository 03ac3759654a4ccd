// GROWTH and BACKLOG: W1 while the store grows, and lists together with a backlog.

import { Api } from '../load/api.ts'
import { Loop, measured } from '../load/loop.ts'
import { Runs, verify } from '../load/runs.ts'
import { secondsOf } from '../measure/cpu-meter.ts'
import { percentiles, timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig } from '../rig/rig.ts'
import { BENCH_APP, SEQUENCE_3, SLOW } from '../rig/workflows.ts'

const IN_FLIGHT = 100
const WARM_UP_RUNS = 3000

/** Shares of `--listed` at which W1 is measured for one window. */
const GROWTH_STAGES = [0, 0.1, 0.25, 0.5, 1]

/** Measures W1 from an empty store: the cost of a run, and how much of it stays on disk, as the store grows. */
export function growth(options: BenchOptions): Promise<Outcome> {
  return onRig({ ...options, engines: 1 }, { over: 'connect' }, async rig => {
    const emptyBytes = rig.diskBytes
    const runs = new Runs(rig, SEQUENCE_3)
    const loop = new Loop(IN_FLIGHT, () => runs.one())
    const figures: Record<string, Figures> = {}
    for (const share of GROWTH_STAGES) {
      await loop.measureUntil(Math.max(WARM_UP_RUNS, share * options.listed))
      const { cpu, ...window } = await measured(rig, () => loop.measure(options.seconds))
      const { p50, p99 } = percentiles(window.latenciesMs)
      const stored = loop.done
      figures[`${stored.toLocaleString('en-US')} runs`] = {
        'runs/s': window.runsPerS,
        'p50 ms': p50,
        'p99 ms': p99,
        'us/run of the engine': (secondsOf(cpu, 'engine') * 1e6) / window.runs,
        'MB resident': rig.residentBytes / 1e6,
        ...(options.store === undefined && { 'bytes/run on disk': (rig.diskBytes - emptyBytes) / stored }),
      }
    }
    await loop.stop()
    await runs.close()
    return {
      title: `W1 over connect while the store grows to ${options.listed.toLocaleString('en-US')} runs`,
      figures,
      notes: ['bytes on disk: the database and its write-ahead log'],
      problems: [...loop.problems, ...(await verify(rig.engine.url, [runs]))],
    }
  })
}

const DAY_MS = 86_400_000
const SENDERS = 64
const BACKLOG_READS = [
  '/runs',
  '/runs?status=queued',
  '/runs?status=running',
  `/runs?workflow=${SLOW.name}`,
  `/runs?workflow=${SLOW.name}&status=queued&sort=duration`,
  '/runs?sort=workflow',
  '/runs/stats',
]

/** Runs that wait for a few slow steps: measures how fast they arrive, their memory, and the console's lists in the meantime. */
export function backlog(options: BenchOptions): Promise<Outcome> {
  return onRig(options, {}, async rig => {
    const api = new Api(rig.engine.url)
    const before = rig.residentBytes
    const runs = new Runs(rig, SLOW, { until: 'accepted' })
    const loop = new Loop(SENDERS, () => runs.one(), options.runs)
    const sent = await loop.measureAll(DAY_MS)
    const figures: Record<string, Figures> = {
      sent: { 'runs/s': sent.runsPerS, 'answers 503': runs.refused },
      memory: { 'MB more': (rig.residentBytes - before) / 1e6 },
    }
    for (const path of BACKLOG_READS) {
      const { p50, p99, max, count } = await timed(() => api.get(path), {
        spentMsMax: (options.seconds * 1000) / BACKLOG_READS.length,
      })
      figures[path] = { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, requests: count }
    }
    // Every run that was accepted is stored, whatever its state.
    const { total } = await api.get<{ total: number }>(`/runs/stats?app=${BENCH_APP}`)
    const missing = total === options.runs ? [] : [`${options.runs} runs were accepted, and ${total} are stored`]
    await Promise.all([api.close(), runs.close()])
    return {
      title: `lists beside ${options.runs.toLocaleString('en-US')} runs whose steps take a second`,
      figures,
      notes: ['each list is read one request at a time, while the engine keeps as many steps under way as it may'],
      problems: [...loop.problems, ...missing],
    }
  })
}
