// Measures the bare ceiling of a workload in the same run, with the same runner process and the same load: `echo` is a
// bare POST between two processes, `relay` the workload itself with a relay in the engine's place.

import type { ChildProcess } from 'node:child_process'
import type { CeilingMessage, Echoed, EchoRequest, RelayRequest } from './ceiling-process.ts'
import { endChild, forkBench, nextMessage } from './child.ts'
import { ClosedLoop } from './closed-loop.ts'
import { CpuMeter, type CpuUse } from './cpu-meter.ts'
import { type Percentiles, percentiles } from './latency.ts'
import { BENCH_APP, type Runner } from './runner.ts'
import { memosOfPasses, type Shape } from './workflows.ts'

export interface Ceiling {
  echo: { callsPerS: number; latencyMs: Percentiles; clientUsPerCall: number; serverUsPerCall: number }
  relay: { runsPerS: number; latencyMs: Percentiles; relayUsPerRun: number; cpu: CpuUse }
}

export interface CeilingOptions {
  runner: Runner
  shape: Shape
  inFlight: number
  seconds: number
}

const WARM_UP_SECONDS = 0.5

export async function measureCeiling(options: CeilingOptions): Promise<Ceiling> {
  const child = forkBench('./ceiling-process.ts')
  try {
    return { echo: await echo(child, options), relay: await relay(child, options) }
  } finally {
    await endChild(child)
  }
}

async function echo(child: ChildProcess, { runner, shape, inFlight, seconds }: CeilingOptions) {
  const { before, afters } = invokeBodies(shape)
  const body = `${before}0${afters.at(-1)}`
  await echoFor(child, { kind: 'echo', origin: runner.origin, inFlight, seconds: WARM_UP_SECONDS, body })
  const meter = new CpuMeter({ client: child.pid as number, server: runner.pid })
  const echoed = await echoFor(child, { kind: 'echo', origin: runner.origin, inFlight, seconds, body })
  const us = new Map(meter.read().shares.map(share => [share.process, (share.seconds * 1e6) / echoed.calls]))
  return {
    callsPerS: echoed.calls / echoed.seconds,
    latencyMs: echoed.latencyMs,
    clientUsPerCall: us.get('client') ?? Number.NaN,
    serverUsPerCall: us.get('server') ?? Number.NaN,
  }
}

function echoFor(child: ChildProcess, request: EchoRequest): Promise<Echoed> {
  const echoed = nextMessage(child, (message: CeilingMessage) =>
    message.kind === 'echoed' ? message : undefined,
  )
  child.send(request)
  return echoed
}

async function relay(child: ChildProcess, { runner, shape, inFlight, seconds }: CeilingOptions) {
  const relaying = nextMessage(child, (message: CeilingMessage) =>
    message.kind === 'relaying' ? message.port : undefined,
  )
  child.send({ kind: 'relay', origin: runner.origin, ...invokeBodies(shape) } satisfies RelayRequest)
  const loop = new ClosedLoop({ origin: `http://127.0.0.1:${await relaying}`, runner, shape, inFlight })
  await loop.measure(WARM_UP_SECONDS)
  const meter = new CpuMeter({ relay: child.pid as number, runner: runner.pid, load: process.pid })
  const window = await loop.measure(seconds)
  const cpu = meter.read()
  await loop.stop()
  if (loop.problems.length > 0) throw new Error(`the bare relay failed: ${loop.problems[0]}`)
  const relaySeconds = cpu.shares.find(share => share.process === 'relay')?.seconds ?? Number.NaN
  return {
    runsPerS: window.runs / window.seconds,
    latencyMs: percentiles(window.latenciesMs),
    relayUsPerRun: (relaySeconds * 1e6) / window.runs,
    cpu,
  }
}

/** The invoke bodies of a run's passes, cut open at the run's number. */
function invokeBodies(shape: Shape): { before: string; afters: string[] } {
  const ctx = { runId: 'run_01', workflow: shape.name, attempt: 1, app: BENCH_APP, runner: '' }
  const afters = memosOfPasses(shape, 0).map(memo => `}},"steps":${memo},"ctx":${JSON.stringify(ctx)}}`)
  return { before: `{"event":{"name":"${shape.name}","data":{"n":`, afters }
}
