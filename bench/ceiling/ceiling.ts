// Measures the ceiling of a workload's transport, with the same runner process and the same load: `echo` is a plain
// POST between two processes, `relay` the workload itself with a relay in the engine's place.

import type { ChildProcess } from 'node:child_process'
import { ClosedLoop } from '../load/closed-loop.ts'
import { CpuMeter, type CpuUse } from '../measure/cpu-meter.ts'
import { type Percentiles, percentiles } from '../measure/latency.ts'
import { endChild, forkBench, nextMessage } from '../rig/child.ts'
import type { Over } from '../rig/options.ts'
import type { Runner } from '../rig/runner.ts'
import { BENCH_APP, memosOfPasses, type Shape } from '../rig/workflows.ts'
import type { CeilingMessage, Echoed, EchoRequest, RelayRequest } from './ceiling-process.ts'

export interface Ceiling {
  echo: { callsPerS: number; latencyMs: Percentiles; clientUsPerCall: number; serverUsPerCall: number }
  relay: { runsPerS: number; latencyMs: Percentiles; relayUsPerRun: number; cpu: CpuUse }
}

interface CeilingOptions {
  runner: Runner
  shape: Shape
  inFlight: number
  seconds: number
  over: Over
}

/** The ceiling process and its address. */
interface Bare {
  child: ChildProcess
  origin: string
}

const WARM_UP_SECONDS = 0.5

export async function measureCeiling(options: CeilingOptions): Promise<Ceiling> {
  const child = forkBench(new URL('./ceiling-process.ts', import.meta.url))
  try {
    const port = await nextMessage(child, (message: CeilingMessage) =>
      message.kind === 'listening' ? message.port : undefined,
    )
    const bare = { child, origin: `http://127.0.0.1:${port}` }
    // Connect the runner's socket again, to the ceiling process this time.
    if (options.over !== 'http') await options.runner.register(bare.origin, options.over)
    return { echo: await echo(bare, options), relay: await relay(bare, options) }
  } finally {
    options.runner.unregister()
    await endChild(child)
  }
}

/** Where the ceiling process calls the runner; without `origin` it uses the runner's socket. */
function called({ runner, over }: CeilingOptions): { origin?: string } {
  return over === 'http' ? { origin: runner.origin } : {}
}

async function echo({ child }: Bare, options: CeilingOptions) {
  const { runner, shape, inFlight, seconds } = options
  const { before, afters } = invokeBodies(shape)
  const request = { kind: 'echo', ...called(options), inFlight, body: `${before}0${afters.at(-1)}` } as const
  await echoFor(child, { ...request, seconds: WARM_UP_SECONDS })
  const meter = new CpuMeter({ client: child.pid as number, server: runner.pid })
  const echoed = await echoFor(child, { ...request, seconds })
  const us = new Map(meter.read().shares.map(share => [share.process, (share.seconds * 1e6) / echoed.calls]))
  return {
    callsPerS: echoed.calls / echoed.seconds,
    latencyMs: echoed.latencyMs,
    clientUsPerCall: us.get('client') ?? Number.NaN,
    serverUsPerCall: us.get('server') ?? Number.NaN,
  }
}

function echoFor(child: ChildProcess, request: EchoRequest): Promise<Echoed> {
  const echoed = nextMessage(child, (message: CeilingMessage) => (message.kind === 'echoed' ? message : undefined))
  child.send(request)
  return echoed
}

async function relay({ child, origin }: Bare, options: CeilingOptions) {
  const { runner, shape, inFlight, seconds, over } = options
  const relaying = nextMessage(child, (message: CeilingMessage) => message.kind === 'relaying' || undefined)
  const bodies = invokeBodies(shape)
  // With checkpoints the runner finishes the run in its first pass.
  const afters = over === 'checkpoints' ? bodies.afters.slice(0, 1) : bodies.afters
  child.send({ kind: 'relay', ...called(options), ...bodies, afters } satisfies RelayRequest)
  await relaying
  const loop = new ClosedLoop({ origin, runner, shape, inFlight })
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

/** The invoke bodies of a run's passes, each split where the run's number stands. */
function invokeBodies(shape: Shape): { before: string; afters: string[] } {
  const ctx = { runId: 'run_01', workflow: shape.name, attempt: 1, app: BENCH_APP, runner: '' }
  const afters = memosOfPasses(shape, 0).map(memo => `}},"steps":${memo},"ctx":${JSON.stringify(ctx)}}`)
  return { before: `{"event":{"name":"${shape.name}","data":{"n":`, afters }
}
