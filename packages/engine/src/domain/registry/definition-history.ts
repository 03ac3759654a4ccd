// The history of a workflow's definitions (docs/concepts.md#past-definitions): what a registration that changes a definition
// adds to it, and how it is read. Called by registration.ts and services/registry/register.

import type { Change } from '../model/change.ts'
import type { Defined, KeptDefinition, Workflow } from '../model/workflow.ts'
import { digestOf } from './newest-definition.ts'

/** Definitions that the history of a workflow keeps, the newest. */
export const DEFINITIONS_MAX = 50

/** Whether a registration repeats the definition, as a heartbeat does. Then it needs no write, and keeps its `updatedAt`. */
export function isSameDefinition(one: Workflow, other: Workflow): boolean {
  return JSON.stringify(definedBy(one)) === JSON.stringify(definedBy(other))
}

/**
 * The change of the history when a definition begins to count. It has the one before, unless an engine stored that which kept no
 * history.
 */
export function definitionChanged(
  now: Workflow,
  { before, runner }: { before: Workflow | undefined; runner: string },
): Change {
  return {
    type: 'definition.changed',
    now: { ...keptDefinition(now), runner },
    ...(before && { before: keptDefinition(before) }),
  }
}

/**
 * Completes a page of the store's rows, the newest first, by the present definition if they lack it. The page is of definitions
 * from before a time, if one is given.
 */
export function withPresent(
  rows: readonly KeptDefinition[],
  { present, before = Number.POSITIVE_INFINITY }: { present: Workflow; before: number | undefined },
): KeptDefinition[] {
  const isKnown = rows.some(({ registeredAt }) => registeredAt >= present.updatedAt)
  return isKnown || present.updatedAt >= before ? [...rows] : [keptDefinition(present), ...rows]
}

function keptDefinition(workflow: Workflow): KeptDefinition {
  const { namespace, app, name, updatedAt: registeredAt } = workflow
  return { namespace, app, workflow: name, registeredAt, hash: digestOf(workflow), definition: definedBy(workflow) }
}

function definedBy({
  namespace: _,
  app: _1,
  name: _2,
  updatedAt: _3,
  pausedAt: _4,
  limits: _5,
  ...defined
}: Workflow): Defined {
  return defined
}
