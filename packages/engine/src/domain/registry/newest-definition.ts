// Whose definition of a workflow counts when runners of one app disagree, as they do while a deployment rolls out: the
// newest registered (decisions "Registration, routing, wire"). A repeat is a heartbeat, and as old as its first.

import { createHash } from 'node:crypto'
import type { Definition, Runner, Workflow } from '../model/workflow.ts'

/** Enough of a digest to tell a workflow's definitions from each other. */
const DIGEST_CHARS = 12

/** What a runner registers of the workflows, in their order. `earlier` is the runner as it was. */
export function definitionsOf(
  workflows: readonly Workflow[],
  options: { earlier: Runner | undefined; others: readonly Runner[]; now: number },
): Definition[] {
  const before = newestOf(options.earlier ? [options.earlier] : [])
  let newest: ReadonlyMap<string, Definition> | undefined
  return workflows.map(workflow => {
    const { name } = workflow
    const digest = digestOf(workflow)
    const repeated = before.get(name)
    if (repeated?.digest === digest) return repeated
    newest ??= newestOf(options.others)
    return { digest, since: Math.max(options.now, (newest.get(name)?.since ?? 0) + 1) }
  })
}

/** The newest definition that one of the runners has of each workflow, by its name. */
export function newestOf(runners: readonly Runner[]): ReadonlyMap<string, Definition> {
  const newest = new Map<string, Definition>()
  for (const { workflows, definitions = [] } of runners) {
    for (const [i, name] of workflows.entries()) {
      const definition = definitions[i]
      if (definition && !isOlder(definition, newest.get(name))) newest.set(name, definition)
    }
  }
  return newest
}

/** Of two that engines took in the same moment one is the older, always the same. */
export function isOlder(one: Definition, other: Definition | undefined): boolean {
  if (other === undefined) return false
  return one.since === other.since ? one.digest < other.digest : one.since < other.since
}

function digestOf({ updatedAt: _, ...defined }: Workflow): string {
  return createHash('sha256').update(JSON.stringify(defined)).digest('base64url').slice(0, DIGEST_CHARS)
}
