// RETENTION: W1 while the engine removes runs whose time is over, beside W1 on the same store without a retention.

import { ClosedLoop } from '../../load/closed-loop.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { cpuFigures, type Figures, type Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { SEQUENCE_3 } from '../../rig/workflows.ts'
import { insertRuns, LISTED_APPS } from '../listed-runs.ts'

/** Runs of the past a window: more than an engine removes meanwhile. */
const OLD_RUNS = 200_000
/** They ended one to eight days ago: so long ago that they go, and so recently that their statistics stay. */
const OLD_FOR_MS = 7.5 * 86_400_000
const IN_FLIGHT = 100
const WARM_UP_RUNS = 3000
const ROUNDS = 2
const BEGINS_WITHIN_MS = 120_000

export async function retention(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options, 'connect')
  try {
    await rig.offline(database => insertRuns(database, OLD_RUNS, Date.now() - OLD_FOR_MS))
    const problems: string[] = []
    const measured = { without: [] as Round[], with: [] as Round[] }
    for (let i = 0; i < ROUNDS; i++) {
      measured.without.push(await round(rig, options, {}, problems))
      measured.with.push(await round(rig, options, { ENGINE_RETENTION: '1d' }, problems))
    }
    const figures = Object.fromEntries([
      ...measured.without.map((one, i) => [`without, round ${i + 1}`, one.figures]),
      ...measured.with.map((one, i) => [`with, round ${i + 1}`, one.figures]),
    ]) as Record<string, Figures>
    const perS = (rounds: Round[]) => rounds.reduce((sum, { runsPerS }) => sum + runsPerS, 0)
    figures.kept = { '% of the throughput': (100 * perS(measured.with)) / perS(measured.without) }
    if (measured.with.some(({ removed }) => removed === 0)) problems.push('a window passed in which no run was removed')
    const title = `W1 beside a retention that has ${OLD_RUNS.toLocaleString('en-US')} runs to remove`
    return [{ workload: 'RETENTION', title, figures, notes: [], problems, profiles: await rig.stopEngine() }]
  } finally {
    await rig.close()
  }
}

interface Round {
  runsPerS: number
  removed: number
  figures: Figures
}

/** Starts the engine with these settings, and measures W1 once it is warm. */
async function round(rig: Rig, options: BenchOptions, env: Record<string, string>, problems: string[]): Promise<Round> {
  await rig.restart(env)
  await rig.runner.register(rig.engine.origin, 'connect')
  const loop = new ClosedLoop({ origin: rig.origins, runner: rig.runner, shape: SEQUENCE_3, inFlight: IN_FLIGHT })
  do await loop.measure(0.2)
  while (loop.left < WARM_UP_RUNS && loop.problems.length === 0)
  if ('ENGINE_RETENTION' in env) await untilRemoving(rig)
  const [oldBefore, meter] = [await oldRuns(rig), new CpuMeter({ engine: rig.engine.pid })]
  const window = await loop.measure(options.seconds)
  const { 'cpu engine': cpu = {} } = cpuFigures(meter.read(), window.runs)
  const removed = oldBefore - (await oldRuns(rig))
  await loop.stop()
  problems.push(...loop.problems)
  const runsPerS = window.runs / window.seconds
  const { p50, p99 } = percentiles(window.latenciesMs)
  const figures = {
    'runs/s': runsPerS,
    'p50 ms': p50,
    'p99 ms': p99,
    'us/run of the engine': cpu['us/run'] ?? Number.NaN,
  }
  return { runsPerS, removed, figures: { ...figures, 'runs removed/s': removed / window.seconds } }
}

/** Waits until the engine has begun to remove runs: it does so once a minute. */
async function untilRemoving(rig: Rig): Promise<void> {
  const giveUpAt = performance.now() + BEGINS_WITHIN_MS
  const before = await oldRuns(rig)
  while ((await oldRuns(rig)) === before) {
    if (performance.now() > giveUpAt) throw new Error('the engine removes no run')
    await new Promise(resolve => setTimeout(resolve, 250))
  }
}

/** Runs of the past that are still stored. */
async function oldRuns({ engine }: Rig): Promise<number> {
  let sum = 0
  for (const app of LISTED_APPS) {
    const response = await fetch(`${engine.origin}/runs/stats?app=${app}`)
    sum += ((await response.json()) as { total: number }).total
  }
  return sum
}
