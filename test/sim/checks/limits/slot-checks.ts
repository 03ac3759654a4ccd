// Checks kept slots: a workflow that keeps them has no more runs between start and end than its limit allows, and a run waits
// only for a slot that has a holder (docs/flow-control.md#kept-slots).

import type { RunView } from '../../../../packages/engine/src/ports/store-reads.ts'
import { ensure } from '../../core/violation.ts'
import type { WorkflowSpec } from '../../workload/program.ts'
import { isEnded, type RunRecord, waitsForSlot } from '../record.ts'

type Records = Iterable<RunRecord>

/** The runs that hold a slot, for each workflow that keeps slots, by namespace. */
function holdersOf(
  records: Records,
  specs: readonly WorkflowSpec[],
): Map<string, { limit: number; holders: string[] }> {
  const found = new Map<string, { limit: number; holders: string[] }>()
  for (const { namespace, run } of records) {
    const spec = run && specs.find(({ name, app }) => name === run.workflow && app === run.app)
    if (!run || spec?.keeps === undefined) continue
    const key = slotOf(namespace, run)
    const known = found.get(key) ?? { limit: spec.keeps, holders: [] }
    if (holdsSlot(run)) known.holders.push(run.id)
    found.set(key, known)
  }
  return found
}

const slotOf = (namespace: string, { app, workflow }: RunView) => `${namespace} ${app} ${workflow}`

/** A run that continues another one has its slot from its creation. No limit applies to the other runs that follow an end. */
function holdsSlot({ status, startedAt, failure, holds, cleanupOf, continuedFrom }: RunView): boolean {
  if (isEnded({ status }) || failure !== undefined) return false
  if (cleanupOf !== undefined) return holds?.fromBirth === true
  return startedAt !== undefined || continuedFrom !== undefined
}

export function checkKeptSlots(records: Records, specs: readonly WorkflowSpec[]): void {
  for (const [slot, { limit, holders }] of holdersOf(records, specs))
    ensure(
      holders.length <= limit,
      'a kept slot has no more holders than its limit',
      () => `${slot}: ${holders}`,
      holders,
    )
}

/** Checks at rest that a run waits only for a slot with holders. */
export function checkSlotQueues(records: Records, specs: readonly WorkflowSpec[]): void {
  const all = [...records]
  const slots = holdersOf(all, specs)
  for (const { id, namespace, run } of all) {
    if (!run || !waitsForSlot(run)) continue
    const { limit, holders } = slots.get(slotOf(namespace, run)) ?? { limit: 0, holders: [] }
    const detail = () => `${JSON.stringify(run)}: ${holders.length} of ${limit}`
    ensure(holders.length === limit && limit > 0, 'at rest a run waits only for a slot that is full', detail, [id])
  }
}

/** A holder of each slot that runs wait for. */
export function blockingRuns(records: Records, specs: readonly WorkflowSpec[]): RunRecord[] {
  const all = [...records]
  const waiting = all.filter(({ run }) => run && waitsForSlot(run))
  const slots = holdersOf(all, specs)
  const ids = new Set(
    waiting.map(({ namespace, run }) => slots.get(slotOf(namespace, run as RunView))?.holders[0]).filter(Boolean),
  )
  return all.filter(({ id }) => ids.has(id))
}
