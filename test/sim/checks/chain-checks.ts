// Checks chains of runs at the end of a simulation: each run that continues is followed by one other run, with the data from
// its runner (docs/concepts.md#runs-that-continue).

import { ensure, same } from '../core/violation.ts'
import type { RunRecord } from './record.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

/** The runs of a chain from this one on. */
export function chainOf({ runs }: Pick<Snapshot, 'runs'>, first: RunRecord): RunRecord[] {
  const chain: RunRecord[] = []
  for (let link: RunRecord | undefined = first; link; link = runs.get(link.run?.continuedAs ?? '')) chain.push(link)
  return chain
}

export function lastOfChain(all: Pick<Snapshot, 'runs'>, first: JudgedRun): JudgedRun {
  return chainOf(all, first).at(-1) as JudgedRun
}

/** A wait for a run has the end of the run's chain, unless it timed out before. */
export function checkRunWaits(all: Snapshot): void {
  for (const record of all.runs.values()) {
    const { id, steps, namespace } = record
    const own = lastOfChain(all, record)
    for (const step of steps) {
      if (step.op !== 'WaitForRun' || step.carried || step.settledBy || step.status === 'cancelled') continue
      const first = all.runs.get(all.runnerRecord.awaitedBy({ namespace, request: { ctx: { runId: id } } }, step.id))
      const last = first && lastOfChain(all, first)
      const detail = () => `${id}#${step.index} ${JSON.stringify(step)}: ${JSON.stringify(last?.run)}`
      if (!last || last === own) {
        ensure(step.status === 'failed', 'a wait for no run, or for the own one, fails', detail, [id])
        continue
      }
      ensure(step.status === 'succeeded', 'a wait for a run succeeds', detail, [id])
      const end = JSON.parse(step.data ?? 'null') as { runId: string; status: string; result?: unknown } | null
      if (end === null) ensure(step.timedOut, 'a wait for a run without an end has timed out', detail, [id])
      else {
        const wanted = [last.id, last.run.status, last.run.result ?? 'null']
        const found = [end.runId, end.status, JSON.stringify(end.result ?? null)]
        ensure(same(found, wanted), 'a wait for a run has the end of its chain', detail, [id, last.id])
      }
    }
  }
}

export function checkChains({ runs, runnerRecord }: Snapshot): void {
  for (const { id, run, namespace } of runs.values()) {
    const next = [...runs.values()].filter(({ run }) => run.continuedFrom === id)
    const detail = () => `${JSON.stringify(run)}: ${JSON.stringify(next.map(({ run }) => run))}`
    const named = run.continuedAs === undefined ? [] : [run.continuedAs]
    ensure(
      same(
        next.map(({ id }) => id),
        named,
      ),
      'a run that continues has one next run',
      detail,
      [id],
    )
    const [link] = next
    if (!link) continue
    const isSame = (['workflow', 'app', 'parentRunId', 'parentStepIndex', 'runner'] as const).every(
      field => link.run[field] === run[field],
    )
    ensure(isSame && link.namespace === namespace, 'a next run goes on in the place of the one before', detail, [id])
    ensure(run.status === 'succeeded' && run.result === undefined, 'a run that continues has no result', detail, [id])
    const given = runnerRecord.passes(id).map(({ continuedWith }) => continuedWith)
    const input: unknown = JSON.parse(link.run.input ?? 'null')
    ensure(
      given.some(data => same(data, input)),
      'a next run has the data that its runner gave',
      detail,
      [id],
    )
  }
}
