// Decides which definition of a workflow counts when runners of one app differ, as they do during a deploy: the newest
// registered (docs/wire-protocol.md#definitions). A repeated definition is a heartbeat, as old as the first registration.

import { createHash } from 'node:crypto'
import type { Definition, Runner, Workflow } from '../model/workflow.ts'

/** Number of characters of a digest that are kept: enough to distinguish the definitions of one workflow. */
const DIGEST_CHARS = 12

/** The definitions that a runner registers for the workflows, in the same order. `earlier` is its previous registration. */
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

/** The newest definition of each workflow over all runners, by workflow name. */
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

/** Whether the definition is older. If two were registered in the same millisecond, the digest decides. */
export function isOlder(one: Definition, other: Definition | undefined): boolean {
  if (other === undefined) return false
  return one.since === other.since ? one.digest < other.digest : one.since < other.since
}

/** The digest of a definition as it was registered: without the pause and the operator's limits of the workflow. */
export function digestOf({ updatedAt: _, pausedAt: _1, limits: _2, ...defined }: Workflow): string {
  return createHash('sha256').update(JSON.stringify(defined)).digest('base64url').slice(0, DIGEST_CHARS)
}
