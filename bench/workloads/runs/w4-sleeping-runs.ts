// W4: very many sleeping runs. Measures how fast they park, what each costs in memory and on disk, how long a crashed
// engine needs to restart with them, and how fast they wake when all are due at one moment.

import { measureCeiling } from '../../ceiling/ceiling.ts'
import { ClosedLoop, type Window } from '../../load/closed-loop.ts'
import { EventPoster } from '../../load/event-poster.ts'
import { expectation, verify } from '../../load/verify.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { residentBytes } from '../../measure/proc.ts'
import { cpuFigures, type Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, NO_STEPS, SLEEPER } from '../../rig/workflows.ts'
import { wakeAll } from './wake-all.ts'

const IN_FLIGHT = 200
const SETTLE_MS = 4000
/** The sleep ends after this many times the estimate for parking, plus the time for the restart. */
const MARGIN = 2
const RESTART_MS = 20_000

export async function w4(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  try {
    const warm = await warmUp(rig)
    const before = await settledBytes(rig)
    const diskBefore = rig.diskBytes
    const dueAt = Date.now() + Math.ceil((options.runs / warm.runsPerS) * 1000 * MARGIN) + RESTART_MS
    const load = { origin: rig.engine.origin, runner: rig.runner, shape: SLEEPER, inFlight: IN_FLIGHT }
    const loop = new ClosedLoop({ ...load, until: 'parked', runsMax: options.runs, untilMs: dueAt })
    const meter = new CpuMeter(rig.pids)
    const parking = await loop.measureAll(dueAt - Date.now())
    const parkCpu = meter.read()
    rig.profileSpan(parking)
    await loop.stop()
    const parked = await settledBytes(rig)
    const disk = rig.diskBytes
    const back = await crashAndReturn(rig)
    const restarted = await settledBytes(rig)
    const inTime = Date.now() < dueAt
    const woken = await wakeAll(rig, { runs: loop.accepted, dueAt })
    const expected = [
      { ...expectation(NO_STEPS, warm.loop), accepted: warm.loop.accepted + 1 },
      expectation(SLEEPER, loop),
    ]
    const problems = [...loop.problems, ...woken.problems, ...(await verify(rig.engine.origin, expected))]
    if (!inTime) problems.push('the sleeps ended before the engine was back: use fewer --runs')
    const profiles = await rig.stopEngine()
    const echoOf = {
      runner: rig.runner,
      inFlight: IN_FLIGHT,
      seconds: Math.min(options.seconds / 3, 3),
      over: 'http' as const,
    }
    const { echo, relay } = await measureCeiling({ ...echoOf, shape: NO_STEPS })
    const parkedPerS = perS(parking)
    const result: Result = {
      workload: 'W4',
      title: `${options.runs} runs asleep`,
      figures: {
        park: { 'runs/s': parkedPerS, seconds: parking.seconds, 'in flight': IN_FLIGHT },
        memory: {
          'MiB before': before / 2 ** 20,
          'MiB parked': parked / 2 ** 20,
          'bytes/run': (parked - before) / loop.accepted,
          'MiB after restart': restarted / 2 ** 20,
        },
        disk: { 'bytes/run': (disk - diskBefore) / loop.accepted },
        restart: { 'ms to ready': back.readyMs, 'ms to first pass': back.firstPassMs },
        wake: woken.figures,
        ...prefixed('park', cpuFigures(parkCpu, parking.runs)),
        ...prefixed('wake', cpuFigures(woken.cpu, loop.accepted)),
        'bare relay (1 pass)': {
          'runs/s': relay.runsPerS,
          'park reaches %': (100 * parkedPerS) / relay.runsPerS,
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
      profiles,
    }
    return [result]
  } finally {
    await rig.close()
  }
}

/**
 * Runs a fresh engine until its code is compiled and its memory has grown, and returns its rate for runs of one pass.
 */
async function warmUp(rig: Rig): Promise<{ loop: ClosedLoop; runsPerS: number }> {
  const load = { origin: rig.engine.origin, runner: rig.runner, shape: NO_STEPS, inFlight: IN_FLIGHT }
  const loop = new ClosedLoop(load)
  await loop.measure(1)
  const runsPerS = perS(await loop.measure(2))
  await loop.stop()
  return { loop, runsPerS }
}

/** Time from the crash to the first run that finishes. */
async function crashAndReturn(rig: Rig): Promise<{ readyMs: number; firstPassMs: number }> {
  const from = performance.now()
  await rig.restart()
  const readyMs = performance.now() - from
  const finished = new Promise<void>(resolve => rig.runner.onLeft(() => resolve()))
  const poster = new EventPoster(rig.engine.origin)
  await poster.send({ name: NO_STEPS.name, app: BENCH_APP, data: { n: 0 } })
  await finished
  const firstPassMs = performance.now() - from
  await poster.close()
  return { readyMs, firstPassMs }
}

async function settledBytes(rig: Rig): Promise<number> {
  await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  return residentBytes(rig.engine.pid) ?? Number.NaN
}

function perS(window: Window): number {
  return window.runs / window.seconds
}

function prefixed<T>(prefix: string, groups: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(groups).map(([name, group]) => [`${prefix}: ${name}`, group]))
}
