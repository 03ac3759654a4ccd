// W1, W2, W3, RESULTS, LONG and PAYLOADS: a table of runs of one shape, and the driver that measures each row of it.

import { ceilingFigures } from '../ceiling/ceiling.ts'
import { Loop, measured } from '../load/loop.ts'
import { Runs, type Until, verify } from '../load/runs.ts'
import { percentiles } from '../measure/latency.ts'
import { cpuFigures, type Figures, type Outcome } from '../report/report.ts'
import { type BenchOptions, type Over, pairsOf, type RunnerKind } from '../rig/options.ts'
import { onRig } from '../rig/rig.ts'
import {
  memosOfPasses,
  PARALLEL_50,
  PAYLOADS,
  SEQUENCE_3,
  SEQUENCE_1000,
  SEQUENCE_10000,
  type Shape,
} from '../rig/workflows.ts'

interface Row {
  title: string
  shape: Shape
  inFlight: number
  over: Over
  kind: RunnerKind
  /** When a run ends. */
  until: Until
  /**
   * After this many runs, or on a slow machine after the length of a window, the engine is warm and its code is compiled.
   * Default: 3,000.
   */
  warmUpRuns?: number
  /** Number of measured runs, instead of a window. */
  runs?: number
  note?: string
  /** Returns additional figures for a row whose runs had this rate and this median. */
  more?(runsPerS: number, p50Ms: number): Record<string, Figures>
}

const WARM_UP_RUNS = 3000
const WARM_UP_SECONDS_MAX = 10
/** Stays below the number of payloads that an engine accepts at once. */
const PAYLOADS_IN_FLIGHT = 20
const STREAM_NOTE =
  "stored: the frame 'succeeded' on the run's own event stream, opened when the 202 is there; that GET and its reads are part of the cost"

const LATENCY: Readonly<Record<Until, string>> = {
  accepted: 'to the 202 ms',
  finished: 'latency ms',
  stored: 'to stored result ms',
  reply: 'to the result ms',
}

/** Returns the rows for each transport with each runner. */
function each({ over, runners }: BenchOptions, rows: (over: Over, kind: RunnerKind, on: string) => Row[]): Row[] {
  return pairsOf(over, runners).flatMap(([over, kind]) => rows(over, kind, `over ${over}, ${kind} runner`))
}

const TABLE = {
  W1: options =>
    each(options, (over, kind, on) =>
      options.inFlight.map(inFlight => ({
        title: `3 sequential steps, ${inFlight} runs in flight, ${on}`,
        ...{ shape: SEQUENCE_3, until: 'finished', over, kind, inFlight },
      })),
    ),
  W2: options =>
    each(options, (over, kind, on) => [
      {
        title: `3 sequential steps, one run at a time, ${on}`,
        ...{ shape: SEQUENCE_3, until: 'stored', over, kind, inFlight: 1, warmUpRuns: 2000, note: STREAM_NOTE },
      },
    ]),
  RESULTS: options =>
    each(options, (over, kind, on) =>
      [1, 100].map(inFlight => ({
        title: `3 sequential steps with the result in the caller's hand, ${inFlight} in flight, ${on}`,
        ...{ shape: SEQUENCE_3, until: 'reply', over, kind, inFlight },
        note: 'each run is one request, POST /events?wait=30s, and no other',
      })),
    ),
  W3: options =>
    options.over.map(over => ({
      title: `50 parallel steps in one pass, 50 runs in flight, over ${over}`,
      ...{ shape: PARALLEL_50, until: 'finished', over, kind: 'bare', inFlight: 50 },
    })),
  LONG: options =>
    each(options, (over, kind, on) => {
      // Without checkpoints, each of the 10,000 invokes would carry the whole memo. The SDK's runner has checkpoints over HTTP
      // too.
      const hasCheckpoints = over === 'checkpoints' || (over === 'http' && kind === 'sdk')
      return (hasCheckpoints ? [SEQUENCE_1000, SEQUENCE_10000] : [SEQUENCE_1000]).map(shape => ({
        title: `one run of ${shape.steps.length} steps, one after the other, ${on}`,
        ...{ shape, until: 'stored', over, kind, inFlight: 1, warmUpRuns: 3, runs: 5 },
        note: "the run's event stream is read during the measurement",
        more: (_, p50Ms) => ({
          'to stored result': { 'median s': p50Ms / 1000, 'ms a step': p50Ms / shape.steps.length },
        }),
      }))
    }),
  PAYLOADS: options =>
    pairsOf(options.over, PAYLOADS).map(([over, shape]) => {
      const { padBytes = 0 } = shape
      return {
        title: `an event and a step's result of ${padBytes / 1000} KB, ${PAYLOADS_IN_FLIGHT} runs in flight, over ${over}`,
        ...{ shape, until: 'finished', over, kind: 'sdk', inFlight: PAYLOADS_IN_FLIGHT, warmUpRuns: 300 },
        more: runsPerS => ({ payloads: { 'MB/s stored': (runsPerS * 2 * padBytes) / 1e6 } }),
      }
    }),
} satisfies Record<string, (options: BenchOptions) => Row[]>

export async function runsOf(workload: keyof typeof TABLE, options: BenchOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const row of TABLE[workload](options)) outcomes.push(await measureRow(options, row))
  return outcomes
}

function measureRow(options: BenchOptions, row: Row): Promise<Outcome> {
  const { shape, inFlight, over, kind, until } = row
  return onRig(options, { over, kind }, async rig => {
    const { runner } = rig
    const runs = new Runs(rig, shape, { until })
    const loop = new Loop(inFlight, () => runs.one())
    if (row.runs !== undefined) await loop.measureUntil(row.warmUpRuns ?? 0)
    else {
      // Not longer than the window itself: with a short window the figures are a trial anyway.
      const seconds = Math.min(options.seconds, WARM_UP_SECONDS_MAX)
      await loop.warmUp((row.warmUpRuns ?? WARM_UP_RUNS) * options.engines, seconds * options.engines)
    }
    const warmRuns = runs.acceptedMs.length
    const { cpu, ...window } = await measured(rig, () =>
      row.runs === undefined ? loop.measure(options.seconds) : loop.measureUntil(loop.done + row.runs),
    )
    await loop.stop()
    await runs.close()
    const { passes, failed } = await runner.counted()
    const problems = [...loop.problems, ...(await verify(rig.engine.url, [runs]))]
    if (failed > 0) problems.push(`the runner refused ${failed} invokes whose memo was wrong`)
    const { runsPerS } = window
    const passesPerRun = memosOfPasses(shape, 0).length
    const latency = percentiles(window.latenciesMs)
    const figures: Record<string, Figures> = {
      throughput: {
        'runs/s': runsPerS,
        'steps/s': runsPerS * shape.steps.length,
        // With checkpoints, an exchange is a checkpoint or the run's only invoke.
        ...(kind === 'bare' && { 'exchanges/s': runsPerS * passesPerRun }),
      },
      ...(until === 'stored' && {
        'to the 202 ms': { ...percentiles(runs.acceptedMs.slice(warmRuns)) },
        'to last answer ms': { ...percentiles(runs.answeredMs.slice(warmRuns)) },
      }),
      [LATENCY[until]]: { ...latency },
      ...row.more?.(runsPerS, latency.p50),
      counted: {
        'runs in window': window.runs,
        'runs in all': runs.accepted,
        ...(kind === 'bare' && {
          'passes repeated': passes - runs.accepted * (over === 'checkpoints' ? 1 : passesPerRun),
        }),
        'passes/run': passes / runs.accepted,
        'answers 503': runs.refused,
      },
      ...cpuFigures(cpu, window.runs),
    }
    if (kind === 'bare' && until !== 'reply' && row.runs === undefined) {
      await rig.stopEngines()
      Object.assign(
        figures,
        await ceilingFigures({ runner, shape, inFlight, seconds: options.seconds / 3, over }, runsPerS),
      )
    }
    return { title: row.title, figures, problems, notes: row.note === undefined ? [] : [row.note] }
  })
}
