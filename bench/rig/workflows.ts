// The workflows of the benchmarks and the runner's answers for them: pure functions of one invoke. They use neither the SDK nor
// the protocol package, so that the bench is an independent implementation of the wire protocol.

import { createHash } from 'node:crypto'

/** The app of all workflows of the bench. */
export const BENCH_APP = 'bench'

/** A workflow whose only step writes to a stream. The SDK's runner serves it. */
export const WRITER = 'writer'
export const WRITER_STREAM = 'out'

/**
 * Data of its event: one chunk every this many ms until the end, each chunk being the time of writing; or this many chunks of 4
 * bytes.
 */
export type WriterData = { everyMs: number; endAt: number } | { tokens: number }

export interface Shape {
  name: string
  kind: 'sequence' | 'parallel' | 'sleeper'
  /** Names and hashed ids of the steps. */
  steps: { name: string; id: string }[]
  /** Bytes of text in the event's data and in each step's result, in addition to the numbers. */
  padBytes?: number
  /** Delay before the bare runner answers an invoke. */
  answerAfterMs?: number
}

/** The part of an invoke request that these workflows read. `n` numbers the runs of one bench process. */
export interface Invoke {
  event: { data: { n: number; untilMs?: number } }
  steps: Record<string, { data?: unknown; error?: unknown }>
  ctx: { workflow: string }
}

export interface Answer {
  status: 200 | 206
  body: string
  /** Set with the result of the run. */
  isLast?: true
  /** Delay before the answer is sent. */
  afterMs?: number | undefined
}

function shape(kind: Shape['kind'], count: number): Shape {
  const steps = Array.from({ length: count }, (_, k) => ({ name: `step-${k}`, id: hashed(`step-${k}`) }))
  return { name: `${kind}-${count}`, kind, steps }
}

/** Returns the hashed step id: lowercase hex SHA-256 of the step's name. */
function hashed(stepId: string): string {
  return createHash('sha256').update(stepId).digest('hex')
}

/** Returns at once: one pass per run. */
export const NO_STEPS = shape('sequence', 0)
export const SEQUENCE_3 = shape('sequence', 3)
export const PARALLEL_50 = shape('parallel', 50)
/** A run whose stream is read while it continues. */
export const SEQUENCE_50 = shape('sequence', 50)
/** One long run, to measure the cost of a step when the memo is long. */
export const SEQUENCE_1000 = shape('sequence', 1000)
export const SEQUENCE_10000 = shape('sequence', 10_000)
/** Sleeps until the time in its event. Only the bare runner serves it. */
export const SLEEPER = shape('sleeper', 1)

/** One step, in an event and a result of this many bytes. */
export const PAYLOADS: readonly Shape[] = [10_000, 100_000, 500_000].map(padBytes => ({
  ...shape('sequence', 1),
  name: `payload-${padBytes}`,
  padBytes,
}))
/** One step that takes a second. */
export const SLOW: Shape = { ...shape('sequence', 1), name: 'slow', answerAfterMs: 1000 }

export const SHAPES: readonly Shape[] = [
  NO_STEPS,
  SEQUENCE_3,
  PARALLEL_50,
  SEQUENCE_50,
  SEQUENCE_1000,
  SEQUENCE_10000,
  SLEEPER,
  ...PAYLOADS,
  SLOW,
]
const BY_NAME = new Map(SHAPES.map(shape => [shape.name, shape]))

/** Returns a text of this many bytes that does not compress to nothing. */
function padding(bytes: number): string {
  let text = ''
  for (let i = 0; text.length < bytes; i++) text += hashed(`padding-${i}`)
  return text.slice(0, bytes)
}

const PADDING = new Map(PAYLOADS.map(({ padBytes = 0 }) => [padBytes, padding(padBytes)]))

/** Returns the event's data for run `n`. */
export function eventData({ padBytes }: Shape, n: number): string {
  return padBytes === undefined ? `{"n":${n}}` : `{"n":${n},"pad":"${PADDING.get(padBytes)}"}`
}

/** Returns the result of the k-th step of run `n`. */
export function stepValue(
  { padBytes }: Shape,
  n: number,
  k: number,
): { n: number; value: number; pad?: string | undefined } {
  return { n, value: n + k, ...(padBytes !== undefined && { pad: PADDING.get(padBytes) }) }
}

/** Returns the same as JSON, which is also its form in the memo entry. */
function stepData({ padBytes }: Shape, n: number, k: number): string {
  const pad = padBytes === undefined ? '' : `,"pad":"${PADDING.get(padBytes)}"`
  return `{"n":${n},"value":${n + k}${pad}}`
}

/** Returns the expected result of run `n`. The sum proves that the result of every step came back through the memo. */
export function expectedResult(shape: Shape, n: number): { n: number; sum: number } {
  let sum = 0
  for (let k = 0; k < shape.steps.length; k++) sum += n + k
  return { n, sum }
}

/** Returns the runner's answer to one invoke: the next steps' results, or the run's. */
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
      sum += (entry.data as { value?: number } | null)?.value ?? 0
      continue
    }
    if (shape.kind === 'sleeper') {
      const sleep = `{"op":"SleepUntil","id":"${id}","name":"${name}","sleepUntilMs":${untilMs}}`
      return { status: 206, body: `{"opcodes":[${sleep}],"logs":[]}` }
    }
    opcodes.push(`{"op":"StepRun","id":"${id}","name":"${name}","data":${stepData(shape, n, k)}}`)
    if (shape.kind === 'sequence') break
  }
  const afterMs = shape.answerAfterMs
  if (opcodes.length > 0) return { status: 206, body: `{"opcodes":[${opcodes}],"logs":[]}`, afterMs }
  return { status: 200, body: `{"data":{"n":${n},"sum":${sum}},"logs":[]}`, isLast: true }
}

/**
 * Returns the opcodes of the steps that can run now, starting at the `from`-th, and the index after them. Their results are added
 * to the invoke's memo, as if they were durable. Without opcodes the run finishes or parks.
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
    opcodes.push(`{"op":"StepRun","id":"${id}","name":"${name}","data":${stepData(shape, n, next)}}`)
    invoke.steps[id] = { data: { n, value: n + next } }
  }
  return { opcodes, next }
}

/** Returns the memos of a run's passes, first to last, if no pass is repeated. */
export function memosOfPasses(shape: Shape, n: number): string[] {
  const entries = shape.steps.map(({ id }, k) => `"${id}":{"data":${stepData(shape, n, k)}}`)
  if (shape.kind === 'parallel') return ['{}', `{${entries}}`]
  return Array.from({ length: entries.length + 1 }, (_, k) => `{${entries.slice(0, k)}}`)
}
