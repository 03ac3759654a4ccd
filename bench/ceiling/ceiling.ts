// Measures the ceiling of a workload's transport, with the same runner process and the same load: `echo` is a plain POST between
// two processes, `relay` is the workload itself with a relay instead of the engine.

import { Loop } from '../load/loop.ts'
import { Runs } from '../load/runs.ts'
import { CpuMeter, secondsOf } from '../measure/cpu-meter.ts'
import { type Percentiles, percentiles } from '../measure/latency.ts'
import type { Figures } from '../report/report.ts'
import { endChild, forkBench, messageOf } from '../rig/child.ts'
import type { Over } from '../rig/options.ts'
import type { Runner } from '../rig/runner.ts'
import { BENCH_APP, memosOfPasses, type Shape } from '../rig/workflows.ts'
import type { CeilingMessage, CeilingRequest } from './ceiling-process.ts'

interface Ceiling {
  echo: { callsPerS: number; latencyMs: Percentiles; clientUsPerCall: number; serverUsPerCall: number }
  relay: { runsPerS: number; latencyMs: Percentiles; relayUsPerRun: number; othersShare: number }
}

interface CeilingOptions {
  runner: Runner
  shape: Shape
  inFlight: number
  seconds: number
  over: Over
}

const WARM_UP_SECONDS = 0.5

export async function measureCeiling({ runner, shape, inFlight, seconds, over }: CeilingOptions): Promise<Ceiling> {
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
    return {
      echo: {
        callsPerS: echoed.calls / echoed.seconds,
        latencyMs: echoed.latencyMs,
        clientUsPerCall: (secondsOf(echoCpu, 'client') * 1e6) / echoed.calls,
        serverUsPerCall: (secondsOf(echoCpu, 'server') * 1e6) / echoed.calls,
      },
      relay: {
        runsPerS: window.runsPerS,
        latencyMs: percentiles(window.latenciesMs),
        relayUsPerRun: (secondsOf(cpu, 'relay') * 1e6) / window.runs,
        othersShare: cpu.othersShare,
      },
    }
  } finally {
    runner.detach()
    await endChild(child)
  }
}

/** Returns the figures of the ceiling, and the share of them that the engine reaches. */
export async function ceilingFigures(options: CeilingOptions, runsPerS: number): Promise<Record<string, Figures>> {
  const { echo, relay } = await measureCeiling(options)
  const invokesPerS = runsPerS * memosOfPasses(options.shape, 0).length
  return {
    'bare relay': {
      'runs/s': relay.runsPerS,
      'p50 ms': relay.latencyMs.p50,
      'p99 ms': relay.latencyMs.p99,
      'us/run of the relay': relay.relayUsPerRun,
      'engine reaches %': (100 * runsPerS) / relay.runsPerS,
      'others % of the machine': 100 * relay.othersShare,
    },
    'bare echo': {
      'calls/s': echo.callsPerS,
      'p50 ms': echo.latencyMs.p50,
      'us/call client': echo.clientUsPerCall,
      'us/call server': echo.serverUsPerCall,
      'engine reaches % in invokes': (100 * invokesPerS) / echo.callsPerS,
    },
  }
}

/** Returns the invoke bodies of a run's passes, each split at the run's number. */
function invokeBodies(shape: Shape): { before: string; afters: string[] } {
  const ctx = { runId: 'run_01', workflow: shape.name, attempt: 1, app: BENCH_APP, runner: '' }
  const afters = memosOfPasses(shape, 0).map(memo => `}},"steps":${memo},"ctx":${JSON.stringify(ctx)}}`)
  return { before: `{"event":{"name":"${shape.name}","data":{"n":`, afters }
}
