// F1, GROWTH, RETENTION and BACKLOG: W1 together with something that costs the engine work: a concurrency limit, a store that
// grows, a retention; and lists together with a backlog.

import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../packages/engine/src/ports/store.ts'
import { Api } from '../load/api.ts'
import { Loop, measured, type Window } from '../load/loop.ts'
import { Runs, verify } from '../load/runs.ts'
import { type CpuUse, secondsOf } from '../measure/cpu-meter.ts'
import { percentiles, timed } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { BENCH_APP, LIMITED_3, SEQUENCE_3, SLOW } from '../rig/workflows.ts'
import { insertRuns, LISTED_APPS } from './seeds/listed-runs.ts'

const IN_FLIGHT = 100
const WARM_UP_RUNS = 3000

function figuresOf({ runsPerS, runs, latenciesMs, cpu }: Window & { cpu: CpuUse }): Figures {
  const { p50, p99 } = percentiles(latenciesMs)
  const usPerRun = (secondsOf(cpu, 'engine') * 1e6) / runs
  return { 'runs/s': runsPerS, 'p50 ms': p50, 'p99 ms': p99, 'us/run of the engine': usPerRun }
}

const LIMIT_TURNS = 4
const LIMIT_WARM_UP_SECONDS = 3

/** Measures the cost of a keyed concurrency limit: alternately without and with a limit, on one engine. */
export function f1(options: BenchOptions): Promise<Outcome> {
  const inFlight = options.inFlight[0] as number
  return onRig(options, {}, async rig => {
    const problems: string[] = []
    const sides = [SEQUENCE_3, LIMITED_3].map(shape => ({
      runs: new Runs(rig, shape),
      runsPerS: [] as number[],
      latenciesMs: [] as number[],
      engineSeconds: 0,
    })) as [Side, Side]
    /** Keeps runs in flight for this long, then waits until none is left. */
    const play = async ({ runs }: Side, seconds: number) => {
      const loop = new Loop(inFlight, () => runs.one())
      const window = await loop.measure(seconds)
      await loop.stop()
      problems.push(...loop.problems)
      return window
    }
    for (const side of sides) await play(side, LIMIT_WARM_UP_SECONDS)
    for (let turn = 0; turn < LIMIT_TURNS; turn++) {
      for (const side of sides) {
        const { cpu, ...window } = await measured(rig, () => play(side, options.seconds / LIMIT_TURNS))
        side.engineSeconds += secondsOf(cpu, 'engine')
        side.runsPerS.push(window.runsPerS)
        side.latenciesMs.push(...window.latenciesMs)
      }
    }
    const [free, limited] = sides
    problems.push(...(await verify(rig.engine.origin, [free.runs, limited.runs])))
    await Promise.all(sides.map(({ runs }) => runs.close()))
    const ratios = limited.runsPerS.map((rate, i) => rate / (free.runsPerS[i] as number))
    const row = ({ runsPerS, latenciesMs, engineSeconds }: Side): Figures => ({
      'runs/s': mean(runsPerS),
      'engine us/run': (engineSeconds * 1e6) / latenciesMs.length,
      ...percentiles(latenciesMs),
    })
    return {
      title: `3 sequential steps, a concurrency limit on each of 1,000 keys, ${inFlight} runs in flight`,
      figures: {
        'without a limit': row(free),
        'with it': row(limited),
        'with to without': { ratio: mean(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
      },
      notes: [`${LIMIT_TURNS} turns of each`],
      problems,
    }
  })
}

interface Side {
  runs: Runs
  runsPerS: number[]
  latenciesMs: number[]
  engineSeconds: number
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

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
      const window = await measured(rig, () => loop.measure(options.seconds))
      const stored = loop.done
      figures[`${stored.toLocaleString('en-US')} runs`] = {
        ...figuresOf(window),
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
      problems: [...loop.problems, ...(await verify(rig.engine.origin, [runs]))],
    }
  })
}

/** Number of old runs per window: more than an engine removes during it. */
const OLD_RUNS = 200_000
/** They ended one to eight days ago: long enough to be removed, and recently enough that their statistics stay. */
const OLD_FOR_MS = 7.5 * 86_400_000
const RETENTION_ROUNDS = 2
const REMOVING_WITHIN_MS = 120_000

/** Measures W1 while the engine removes runs whose time is over, and W1 on the same store without a retention. */
export function retention(options: BenchOptions): Promise<Outcome> {
  const fill = (store: Store) => insertRuns(store, OLD_RUNS, Date.now() - OLD_FOR_MS)
  return onRig(options, { over: 'connect', fill }, async rig => {
    const problems: string[] = []
    const rounds = { without: [] as Figures[], with: [] as Figures[] }
    for (let i = 0; i < RETENTION_ROUNDS; i++) {
      rounds.without.push(await retentionRound(rig, {}, problems))
      rounds.with.push(await retentionRound(rig, { ENGINE_RETENTION: '1d' }, problems))
    }
    const figures = Object.fromEntries(
      Object.entries(rounds).flatMap(([name, all]) => all.map((one, i) => [`${name}, round ${i + 1}`, one])),
    )
    const perS = (all: Figures[]) => mean(all.map(one => one['runs/s'] ?? Number.NaN))
    figures.kept = { '% of the throughput': (100 * perS(rounds.with)) / perS(rounds.without) }
    if (rounds.with.some(one => one['runs removed/s'] === 0))
      problems.push('a window passed in which no run was removed')
    return {
      title: `W1 beside a retention that has ${OLD_RUNS.toLocaleString('en-US')} runs to remove`,
      figures,
      problems,
    }
  })
}

/** Starts the engine with these settings, and measures W1 once it is warm. */
async function retentionRound(rig: Rig, env: Record<string, string>, problems: string[]): Promise<Figures> {
  await rig.restart(env)
  const api = new Api(rig.engine.origin)
  /** Returns the number of old runs that are still stored. */
  const oldRuns = async () => {
    let sum = 0
    for (const app of LISTED_APPS) sum += (await api.get<{ total: number }>(`/runs/stats?app=${app}`)).total
    return sum
  }
  const runs = new Runs(rig, SEQUENCE_3)
  const loop = new Loop(IN_FLIGHT, () => runs.one())
  await loop.measureUntil(WARM_UP_RUNS)
  if ('ENGINE_RETENTION' in env) {
    // The engine begins to remove runs once a minute.
    const [before, giveUpAt] = [await oldRuns(), performance.now() + REMOVING_WITHIN_MS]
    while ((await oldRuns()) === before) {
      if (performance.now() > giveUpAt) throw new Error('the engine removes no run')
      await pause(250)
    }
  }
  const oldBefore = await oldRuns()
  const window = await measured(rig, () => loop.measure(rig.options.seconds))
  const removed = oldBefore - (await oldRuns())
  await loop.stop()
  problems.push(...loop.problems)
  await Promise.all([api.close(), runs.close()])
  return { ...figuresOf(window), 'runs removed/s': removed / window.seconds }
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
    const api = new Api(rig.engine.origin)
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
