// The history of a workflow's definitions (docs/concepts.md#past-definitions): how a registration with a changed definition
// extends it, and how it is read. Called by registration.ts and services/registry/register.

import type { Change } from '../model/change.ts'
import type { Defined, KeptDefinition, Workflow } from '../model/workflow.ts'
import { digestOf } from './newest-definition.ts'

/** Maximum definitions in the history of a workflow; the newest are kept. */
export const DEFINITIONS_MAX = 50

/**
 * Whether the registration repeats the definition, as a heartbeat does. If so, it needs no write, and the definition keeps its
 * `updatedAt`.
 */
export function isSameDefinition(one: Workflow, other: Workflow): boolean {
  return JSON.stringify(definedBy(one)) === JSON.stringify(definedBy(other))
}

/**
 * The change of the history when a definition begins to count. It includes the previous definition, because the history lacks
 * that if an engine without a history stored it.
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
 * Adds the present definition to a page of the store's rows, newest first, if the rows lack it. If a time is given, the page
 * only has definitions from before it.
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
