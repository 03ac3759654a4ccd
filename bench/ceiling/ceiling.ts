// Measures the ceiling of a workload's transport, with the same runner process and the same load: `echo` is a plain POST between
// two processes, `relay` is the workload itself with a relay instead of the engine.

import { Loop } from '../load/loop.ts'
import { Runs } from '../load/runs.ts'
import { CpuMeter, secondsOf } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import type { Figures } from '../report/report.ts'
import { endChild, forkBench, messageOf } from '../rig/child.ts'
import type { Over } from '../rig/options.ts'
import type { Runner } from '../rig/runner.ts'
import { BENCH_APP, memosOfPasses, type Shape } from '../rig/workflows.ts'
import type { CeilingMessage, CeilingRequest } from './ceiling-process.ts'

interface CeilingOptions {
  runner: Runner
  shape: Shape
  inFlight: number
  seconds: number
  over: Over
}

const WARM_UP_SECONDS = 0.5

/** Returns the figures of the ceiling, and the share of them that the engine reaches with `runsPerS`. */
export async function ceilingFigures(
  { runner, shape, inFlight, seconds, over }: CeilingOptions,
  runsPerS: number,
): Promise<Record<string, Figures>> {
  const child = forkBench(new URL('./ceiling-process.ts', import.meta.url))
  const pid = child.pid as number
  const send = (request: CeilingRequest) => child.send(request)
  const called = { origin: over === 'http' ? runner.origin : undefined }
  const { before, afters } = invokeBodies(shape)
  const echo = (forSeconds: number) => {
    send({ kind: 'echo', ...called, inFlight, seconds: forSeconds, body: `${before}0${afters.at(-1)}` })
    return messageOf<CeilingMessage, 'echoed'>(child, 'echoed')
  }
  try {
    const { port } = await messageOf<CeilingMessage, 'listening'>(child, 'listening')
    const origin = `http://127.0.0.1:${port}`
    // Connect the runner's socket again, this time to the ceiling process.
    if (over !== 'http') await runner.attach(origin, { over })
    await echo(WARM_UP_SECONDS)
    const echoMeter = new CpuMeter({ client: pid, server: runner.pid })
    const echoed = await echo(seconds)
    const echoCpu = echoMeter.read()
    const callsPerS = echoed.calls / echoed.seconds
    // With checkpoints the runner finishes the run in its first pass.
    send({ kind: 'relay', ...called, before, afters: over === 'checkpoints' ? afters.slice(0, 1) : afters })
    await messageOf<CeilingMessage, 'relaying'>(child, 'relaying')
    const runs = new Runs({ origins: [origin], runner }, shape)
    const loop = new Loop(inFlight, () => runs.one())
    await loop.measure(WARM_UP_SECONDS)
    const meter = new CpuMeter({ relay: pid, runner: runner.pid, load: process.pid })
    const window = await loop.measure(seconds)
    const cpu = meter.read()
    await loop.stop()
    await runs.close()
    if (loop.problems.length > 0) throw new Error(`the bare relay failed: ${loop.problems[0]}`)
    const latencyMs = percentiles(window.latenciesMs)
    return {
      'bare relay': {
        'runs/s': window.runsPerS,
        'p50 ms': latencyMs.p50,
        'p99 ms': latencyMs.p99,
        'us/run of the relay': (secondsOf(cpu, 'relay') * 1e6) / window.runs,
        'engine reaches %': (100 * runsPerS) / window.runsPerS,
        'others % of the machine': 100 * cpu.othersShare,
      },
      'bare echo': {
        'calls/s': callsPerS,
        'p50 ms': echoed.latencyMs.p50,
        'us/call client': (secondsOf(echoCpu, 'client') * 1e6) / echoed.calls,
        'us/call server': (secondsOf(echoCpu, 'server') * 1e6) / echoed.calls,
        'engine reaches % in invokes': (100 * runsPerS * afters.length) / callsPerS,
      },
    }
  } finally {
    runner.detach()
    await endChild(child)
  }
}

/** Returns the invoke bodies of a run's passes, each split at the run's number. */
function invokeBodies(shape: Shape): { before: string; afters: string[] } {
  const ctx = { runId: 'run_01', workflow: shape.name, attempt: 1, app: BENCH_APP, runner: '' }
  const afters = memosOfPasses(shape, 0).map(memo => `}},"steps":${memo},"ctx":${JSON.stringify(ctx)}}`)
  return { before: `{"event":{"name":"${shape.name}","data":{"n":`, afters }
}
