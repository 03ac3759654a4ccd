// Looks for a circle of waits from a run back to itself, over steps that wait for runs and over children. Called by why.ts.

import { isTerminal, type Run } from '../../domain/model/run.ts'
import type { Step } from '../../domain/model/step.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { WaitCircle } from '../../domain/why/circle.ts'
import type { Reads } from '../../ports/store-reads.ts'

/** Maximum runs that are read for one answer, the nearest first. */
const RUNS_READ_MAX = 50

/** A run that is waited for, and how the wait leads there. */
interface Awaited {
  id: string
  path: readonly string[]
  until: number | undefined
}

/** The shortest circle through the run; undefined if there is none among the nearest runs. */
export async function waitCircle(reads: Reads, run: Run, open: readonly Step[]): Promise<WaitCircle | undefined> {
  const own = chainOf(run)
  const queue = targetsOf(open, { path: [shownRunId(run.id)], until: undefined })
  const seen = new Set<string>()
  for (let read = 0; queue.length > 0 && read < RUNS_READ_MAX; ) {
    const { id, path, until } = queue.shift() as Awaited
    if (id === own) return { runIds: path, until }
    if (seen.has(id)) continue
    seen.add(id)
    read++
    const awaited = (await reads.newestOfChain(id)) ?? (await reads.run(id))
    if (!awaited || isTerminal(awaited.status)) continue
    if (chainOf(awaited) === own) return { runIds: path, until }
    const steps = await reads.steps(awaited.id, { status: WAITING, withoutData: true })
    queue.push(...targetsOf(steps, { path: [...path, shownRunId(awaited.id)], until }))
  }
  return undefined
}

const WAITING = ['waiting'] as const

/** A chain is named by its first run. */
const chainOf = ({ id, chainId = id }: Pick<Run, 'id' | 'chainId'>) => chainId

function targetsOf(steps: readonly Step[], { path, until }: Omit<Awaited, 'id'>): Awaited[] {
  return steps.flatMap(({ status, awaitedRunId, childRunId, wakeAt }) => {
    const id = awaitedRunId ?? childRunId
    if (status !== 'waiting' || id === undefined) return []
    const first = Math.min(until ?? Number.POSITIVE_INFINITY, wakeAt ?? Number.POSITIVE_INFINITY)
    return [{ id, path, until: Number.isFinite(first) ? first : undefined }]
  })
}
