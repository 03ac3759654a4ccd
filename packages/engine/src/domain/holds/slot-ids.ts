// The slot of a concurrency limit, and how many runs may hold the slot now. Separate from the evaluation of holds, since the
// claims in the thread of a database need this and evaluate nothing.

import { createHash } from 'node:crypto'
import type { ConcurrencyLimit, ConcurrencyScope, Slot } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'

export type OfWorkflow = Pick<Run, 'namespace' | 'app' | 'workflow'>

/**
 * Within a workflow, limits with different expressions have different slots, whatever their values. Slots of an app or a
 * namespace are shared by value: other workflows have other events, and may write the same key differently.
 */
export function slotId(run: OfWorkflow, scope: ConcurrencyScope, source?: string, key?: string): string {
  if (scope === 'workflow') return idOf('workflow', ownScope(run), source, key)
  return idOf(scope, scope === 'app' ? [run.namespace, run.app] : [run.namespace], undefined, key)
}

/**
 * The maximum number of runs that may hold the slot at once: by the present limits of the run's workflow, or by the limits at
 * the run's creation if no present limit has this slot.
 */
export function presentLimit(
  run: OfWorkflow,
  { id, key, limit }: Slot,
  limits: readonly ConcurrencyLimit[] | undefined,
): number {
  const present = (limits ?? []).filter(entry => isAbout(run, entry, { id, ...named(key) }))
  return present.length === 0 ? limit : Math.min(...present.map(({ limit }) => limit))
}

/** Whether the limit is the one of the run's slot. */
export function isAbout(
  run: OfWorkflow,
  { scope, key: source }: ConcurrencyLimit,
  { id, key }: Pick<Slot, 'id' | 'key'>,
): boolean {
  return (source === undefined) === (key === undefined) && slotId(run, scope, source, key) === id
}

/** The scope of a slot of the run, derived from its id: the ids of an app or a namespace contain no expression. */
export function slotScope(
  { namespace, app, workflow }: Pick<Run, 'namespace' | 'app' | 'workflow'>,
  { id, key }: Slot,
): { scope: ConcurrencyScope; app?: string; workflow?: string } {
  if (id === idOf('namespace', [namespace], undefined, key)) return { scope: 'namespace' }
  if (id === idOf('app', [namespace, app], undefined, key)) return { scope: 'app', app }
  return { scope: 'workflow', app, workflow }
}

/** The parts of a hold's id that only one workflow has. */
export function ownScope({ namespace, app, workflow }: OfWorkflow): string[] {
  return [namespace, app, workflow]
}

/** A digest: the same for the same kind, scope, expression and key. */
export function idOf(kind: string, scope: readonly string[], source?: string, key?: string): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, scope, source ?? null, key ?? null]))
    .digest('base64url')
}

/** The key as a member of a hold, if there is one. */
export function named(key: string | undefined): { key?: string } {
  return key === undefined ? {} : { key }
}
