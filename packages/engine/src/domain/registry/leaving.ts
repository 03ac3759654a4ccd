// Decides what happens when a process of a runner shuts down (docs/wire-protocol.md#leave). Several processes may register as
// one runner, for example behind a load balancer. Called by services/registry.

import type { Runner } from '../model/workflow.ts'

/** Maximum instances in a runner's row: the ones that were seen last. */
const INSTANCES_MAX = 50

/** The instances of a runner that were seen since a time, and one that is seen now; undefined when there are none. */
export function instancesOf(
  earlier: Runner | undefined,
  { instance, now, staleAfterMs }: { instance: string | undefined; now: number; staleAfterMs: number },
): Runner['instances'] {
  const seen = new Map(liveInstances(earlier, now - staleAfterMs))
  if (instance !== undefined) seen.set(instance, now)
  if (seen.size === 0) return undefined
  const newest = [...seen].sort(([, a], [, b]) => b - a).slice(0, INSTANCES_MAX)
  return Object.fromEntries(newest)
}

/**
 * The runner without the instance that shuts down. The runner has left if that was the last live instance, or if it names none.
 */
export function withoutInstance(
  runner: Runner,
  { instance, now, staleAfterMs }: { instance: string | undefined; now: number; staleAfterMs: number },
): Runner {
  const { instances: _, ...rest } = runner
  const others = liveInstances(runner, now - staleAfterMs).filter(([id]) => id !== instance)
  if (instance === undefined || others.length === 0) return { ...rest, hasLeft: true }
  return { ...rest, instances: Object.fromEntries(others) }
}

function liveInstances(runner: Runner | undefined, since: number): [string, number][] {
  return Object.entries(runner?.instances ?? {}).filter(([, seenAt]) => seenAt >= since)
}
