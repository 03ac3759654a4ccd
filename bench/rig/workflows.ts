// The workflows of the benchmarks and what a runner answers for them: pure functions over one invoke. Independent of
// the SDK and of the protocol package on purpose, so that the bench is also a second reading of the wire contract.

import { createHash } from 'node:crypto'

export interface Shape {
  name: string
  kind: 'sequence' | 'parallel' | 'sleeper'
  /** Names and hashed ids of its steps. */
  steps: { name: string; id: string }[]
  /** What it is registered with besides its name. */
  registration?: Record<string, unknown>
}

/** The part of an invoke request these workflows look at. `n` numbers the runs of one bench process. */
export interface Invoke {
  event: { data: { n: number; untilMs?: number } }
  steps: Record<string, { data?: unknown; error?: unknown; pending?: boolean }>
  ctx: { workflow: string }
}

export interface Answer {
  status: 200 | 206
  body: string
  /** What the load is told: the run is at its end, or went to sleep. */
  told?: 'finished' | 'parked'
}

function shape(kind: Shape['kind'], count: number): Shape {
  const steps = Array.from({ length: count }, (_, k) => ({ name: `step-${k}`, id: hashed(`step-${k}`) }))
  return { name: `${kind}-${count}`, kind, steps }
}

/** Hashed step id (contract §2.11): lowercase hex SHA-256 of the step's name. */
function hashed(stepId: string): string {
  return createHash('sha256').update(stepId).digest('hex')
}

/** Returns at once: one pass a run. */
export const NO_STEPS = shape('sequence', 0)
export const SEQUENCE_3 = shape('sequence', 3)
export const PARALLEL_50 = shape('parallel', 50)
/** One long run: what a thousand steps cost, one after the other. */
export const SEQUENCE_1000 = shape('sequence', 1000)
export const SEQUENCE_10000 = shape('sequence', 10_000)
export const SLEEPER = shape('sleeper', 1)

/** Three steps under a concurrency limit on each of 1,000 keys. */
export const LIMITED_3: Shape = {
  ...SEQUENCE_3,
  name: 'limited-3',
  registration: { concurrency: { limit: 1, key: 'int(event.data.n) % 1000' } },
}

export const SHAPES: readonly Shape[] = [
  NO_STEPS,
  SEQUENCE_3,
  PARALLEL_50,
  SEQUENCE_1000,
  SEQUENCE_10000,
  SLEEPER,
  LIMITED_3,
]
const BY_NAME = new Map(SHAPES.map(shape => [shape.name, shape]))

/** Result of the k-th step of run `n`, and the memo entry a runner gets it back in. */
export function stepData(n: number, k: number): string {
  return `{"n":${n},"value":${n + k}}`
}

/** What run `n` must end with: the sum proves that every step's own result came back through the memo. */
export function expectedResult(shape: Shape, n: number): { n: number; sum: number } {
  let sum = 0
  if (shape.kind !== 'sleeper') for (let k = 0; k < shape.steps.length; k++) sum += n + k
  return { n, sum }
}

/** The runner's answer to one invoke: the next steps' results, or the run's. */
export function answer(invoke: Invoke): Answer {
  const shape = BY_NAME.get(invoke.ctx.workflow)
  if (!shape) throw new Error(`no workflow ${invoke.ctx.workflow}`)
  const { n, untilMs } = invoke.event.data
  const opcodes: string[] = []
  let sum = 0
  for (const [k, { id, name }] of shape.steps.entries()) {
    const entry = invoke.steps[id]
    if (entry) {
      if (entry.error !== undefined) throw new Error(`step ${name} of run ${n} has an error in its memo`)
      if (entry.pending) return { status: 206, body: '{"opcodes":[],"logs":[]}' }
      sum += (entry.data as { value?: number } | null)?.value ?? 0
      continue
    }
    if (shape.kind === 'sleeper') {
      const sleep = `{"op":"SleepUntil","id":"${id}","name":"${name}","sleepUntilMs":${untilMs}}`
      return { status: 206, body: `{"opcodes":[${sleep}],"logs":[]}`, told: 'parked' }
    }
    opcodes.push(`{"op":"StepRun","id":"${id}","name":"${name}","data":${stepData(n, k)}}`)
    if (shape.kind === 'sequence') break
  }
  if (opcodes.length > 0) return { status: 206, body: `{"opcodes":[${opcodes}],"logs":[]}` }
  return { status: 200, body: `{"data":{"n":${n},"sum":${sum}},"logs":[]}`, told: 'finished' }
}

/**
 * The opcodes of the steps that can run now, from the `from`-th on, and the first that cannot; their results are noted
 * in the invoke's memo, as they are there when they are durable. None: the run is at its end, or goes to sleep.
 */
export function openSteps(invoke: Invoke, from: number): { opcodes: string[]; next: number } {
  const shape = BY_NAME.get(invoke.ctx.workflow)
  const opcodes: string[] = []
  let next = from
  if (!shape || shape.kind === 'sleeper') return { opcodes, next }
  const { n } = invoke.event.data
  for (; next < shape.steps.length && (shape.kind === 'parallel' || opcodes.length === 0); next++) {
    const { id, name } = shape.steps[next] as Shape['steps'][number]
    if (invoke.steps[id]) continue
    opcodes.push(`{"op":"StepRun","id":"${id}","name":"${name}","data":${stepData(n, next)}}`)
    invoke.steps[id] = { data: { n, value: n + next } }
  }
  return { opcodes, next }
}

/** The memos of a run's passes, first to last: what a runner is sent when nothing goes wrong. */
export function memosOfPasses(shape: Shape, n: number): string[] {
  const entries = shape.steps.map(({ id }, k) => `"${id}":{"data":${stepData(n, k)}}`)
  if (shape.kind === 'parallel') return ['{}', `{${entries}}`]
  return Array.from({ length: entries.length + 1 }, (_, k) => `{${entries.slice(0, k)}}`)
}
