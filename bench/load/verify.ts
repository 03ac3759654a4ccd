// The checks after a workload: every accepted run is in the store and succeeded, and a sample of the runs has the right
// input, result and steps. Each violation is one line of text.

import { isDeepStrictEqual } from 'node:util'
import { expectedResult, type Shape } from '../rig/workflows.ts'
import { getRun, getSteps, runs } from './api.ts'
import type { ClosedLoop } from './closed-loop.ts'

const SAMPLES_MAX = 50
const SETTLE_MS = 20_000
const OPEN_STATUSES = ['queued', 'running', 'waiting', 'paused']

export interface Expected {
  shape: Shape
  /** Accepted runs: each must be stored as succeeded. */
  accepted: number
  samples: ReadonlyMap<number, string>
}

/** Compares the engine's store with what the loops saw. */
export async function verify(origin: string, expected: readonly Expected[]): Promise<string[]> {
  const problems = await settle(origin)
  const counts = new Map<string, number>()
  for await (const { workflow, status } of runs(origin)) {
    const key = `${workflow} ${status}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  for (const { shape, accepted, samples } of expected) {
    const key = `${shape.name} succeeded`
    const stored = counts.get(key) ?? 0
    if (stored !== accepted) problems.push(`${accepted} ${shape.name} runs accepted, ${stored} succeeded`)
    counts.delete(key)
    for (const [n, runId] of [...samples].slice(0, SAMPLES_MAX)) {
      problems.push(...(await checkRun(origin, { shape, n, runId })))
    }
  }
  for (const [key, count] of counts) problems.push(`${count} unexpected: ${key}`)
  return problems
}

export function expectation(shape: Shape, loop: ClosedLoop): Expected {
  return { shape, accepted: loop.accepted, samples: loop.samples }
}

/** The last answers of a loop may not be stored yet: waits until no run is open. */
async function settle(origin: string): Promise<string[]> {
  const giveUpAt = performance.now() + SETTLE_MS
  for (;;) {
    const open = await anyOpen(origin)
    if (open === undefined) return []
    if (performance.now() > giveUpAt) return [`run ${open} is still open`]
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

async function anyOpen(origin: string): Promise<string | undefined> {
  for (const status of OPEN_STATUSES) for await (const { id } of runs(origin, status)) return id
  return undefined
}

async function checkRun(
  origin: string,
  { shape, n, runId }: { shape: Shape; n: number; runId: string },
): Promise<string[]> {
  const problems: string[] = []
  const run = await getRun(origin, runId)
  if (run.status !== 'succeeded') problems.push(`run ${runId} is ${run.status}`)
  if ((run.input as { n?: number } | undefined)?.n !== n) problems.push(`run ${runId} has another's input`)
  if (!isDeepStrictEqual(run.result, expectedResult(shape, n))) {
    problems.push(`run ${runId} has the result ${JSON.stringify(run.result)}`)
  }
  const steps = await getSteps(origin, runId)
  const succeeded = steps.filter(step => step.status === 'succeeded').length
  if (steps.length !== shape.steps.length || succeeded !== steps.length) {
    problems.push(`run ${runId} has ${succeeded} of ${steps.length} steps succeeded, not ${shape.steps.length}`)
  }
  return problems
}
