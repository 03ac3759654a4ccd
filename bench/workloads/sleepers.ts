// W4: very many sleeping runs. Measures how fast they park, how much memory and disk each costs, how long a crashed engine needs
// to restart with them, and how fast they wake when all are due at one moment.

import { setTimeout as pause } from 'node:timers/promises'
import { measureCeiling } from '../ceiling/ceiling.ts'
import { Loop, measured } from '../load/loop.ts'
import { Runs, verify } from '../load/runs.ts'
import { CpuMeter, type CpuUse } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import { nowUs } from '../measure/profile.ts'
import { cpuFigures, type Figures, type Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { NO_STEPS, SLEEPER } from '../rig/workflows.ts'

const IN_FLIGHT = 200
const SETTLE_MS = 4000
/** The sleep ends after this many times the estimate for parking, plus the time for the restart. */
const MARGIN = 2
const RESTART_MS = 20_000
/** If no run wakes for this long, the remaining runs count as lost. */
const STALLED_MS = 30_000

export function w4(options: BenchOptions): Promise<Outcome> {
  return onRig(options, {}, async rig => {
    // A fresh engine runs first, until its code is compiled and its memory has grown.
    const passes = new Runs(rig, NO_STEPS)
    const warm = new Loop(IN_FLIGHT, () => passes.one())
    await warm.measure(1)
    const { runsPerS } = await warm.measure(2)
    await warm.stop()
    const settledBytes = () => pause(SETTLE_MS).then(() => rig.residentBytes)
    const [before, diskBefore] = [await settledBytes(), rig.diskBytes]
    const dueAt = Date.now() + Math.ceil((options.runs / runsPerS) * 1000 * MARGIN) + RESTART_MS
    const sleepers = new Runs(rig, SLEEPER, { until: 'parked', untilMs: dueAt })
    const loop = new Loop(IN_FLIGHT, () => sleepers.one(), options.runs)
    const { cpu: parkCpu, ...parking } = await measured(rig, () => loop.measureAll(dueAt - Date.now()))
    await loop.stop()
    const [parked, disk] = [await settledBytes(), rig.diskBytes]
    const crashedAt = performance.now()
    await rig.restart()
    const readyMs = performance.now() - crashedAt
    await passes.one()
    const firstPassMs = performance.now() - crashedAt
    const restarted = await settledBytes()
    const isInTime = Date.now() < dueAt
    const woken = await wakeAll(rig, sleepers.accepted, dueAt)
    await Promise.all([passes.close(), sleepers.close()])
    const problems = [...loop.problems, ...woken.problems, ...(await verify(rig.engine.origin, [passes, sleepers]))]
    if (!isInTime) problems.push('the sleeps ended before the engine was back: use fewer --runs')
    await rig.stopEngines()
    const seconds = Math.min(options.seconds / 3, 3)
    const ceiling = { runner: rig.runner, inFlight: IN_FLIGHT, seconds, over: 'http', shape: NO_STEPS } as const
    const { echo, relay } = await measureCeiling(ceiling)
    return {
      title: `${options.runs} runs asleep`,
      figures: {
        park: { 'runs/s': parking.runsPerS, seconds: parking.seconds, 'in flight': IN_FLIGHT },
        memory: {
          'MiB before': before / 2 ** 20,
          'MiB parked': parked / 2 ** 20,
          'bytes/run': (parked - before) / sleepers.accepted,
          'MiB after restart': restarted / 2 ** 20,
        },
        disk: { 'bytes/run': (disk - diskBefore) / sleepers.accepted },
        restart: { 'ms to ready': readyMs, 'ms to first pass': firstPassMs },
        wake: woken.figures,
        ...prefixed('park', cpuFigures(parkCpu, parking.runs)),
        ...prefixed('wake', cpuFigures(woken.cpu, sleepers.accepted)),
        'bare relay (1 pass)': {
          'runs/s': relay.runsPerS,
          'park reaches %': (100 * parking.runsPerS) / relay.runsPerS,
        },
        'bare echo': {
          'calls/s': echo.callsPerS,
          'wake reaches %': (100 * (woken.figures['runs/s'] ?? Number.NaN)) / echo.callsPerS,
        },
      },
      notes: [
        `resident memory is taken ${SETTLE_MS} ms after the load ended; 'before' is after a warm-up`,
        options.profile ? 'profiling: the engine was stopped in order, not killed' : 'restart is a SIGKILL',
      ],
      problems,
    }
  })
}

/** Lets every sleep end at one moment, and measures until the last run has finished. */
async function wakeAll(
  rig: Rig,
  runs: number,
  dueAt: number,
): Promise<{ figures: Figures; cpu: CpuUse; problems: string[] }> {
  const lagsMs: number[] = []
  let [early, lastAt] = [0, dueAt]
  rig.runner.onFinished = count => {
    lastAt = Date.now()
    for (let i = 0; i < count; i++) lagsMs.push(lastAt - dueAt)
    if (lastAt < dueAt) early += count
  }
  await pause(Math.max(0, dueAt - Date.now()))
  const [meter, fromUs] = [new CpuMeter(rig.pids), nowUs()]
  while (lagsMs.length < runs && Date.now() - Math.max(lastAt, dueAt) < STALLED_MS) await pause(20)
  const cpu = meter.read()
  rig.profileSpan({ fromUs, toUs: nowUs() })
  const problems: string[] = []
  if (early > 0) problems.push(`${early} runs woke before their time`)
  if (lagsMs.length < runs) problems.push(`${runs - lagsMs.length} runs did not wake`)
  const { p50, p99, max } = percentiles(lagsMs)
  const figures = {
    'runs/s': (lagsMs.length * 1000) / (lastAt - dueAt),
    seconds: (lastAt - dueAt) / 1000,
    'first after ms': lagsMs[0] ?? Number.NaN,
    'p50 after ms': p50,
    'p99 after ms': p99,
    'last after ms': max,
    'finished more than once': Math.max(0, lagsMs.length - runs),
  }
  return { figures, cpu, problems }
}

function prefixed<T>(prefix: string, groups: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(groups).map(([name, group]) => [`${prefix}: ${name}`, group]))
}
