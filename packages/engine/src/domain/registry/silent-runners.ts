// Decides which runners of an app are gone for good (docs/wire-protocol.md#register): the runners that were silent for more
// than a day. Called by services/registry/silent-runners.

import type { Runner } from '../model/workflow.ts'

/** A runner that was silent for longer than this is forgotten. */
export const RUNNER_SILENCE_MS_MAX = 24 * 60 * 60 * 1000

/**
 * The runners of one app that were not seen since a time. A runner that sleeps between invokes is kept, unless runners that
 * were seen later serve all of its workflows: an invoke wakes it.
 */
export function silentRunners(
  runners: readonly Runner[],
  { seenSince, isConnected }: { seenSince: number; isConnected(runner: Runner): boolean },
): Runner[] {
  const silent = runners.filter(runner => runner.lastSeenAt < seenSince && !isConnected(runner))
  if (!silent.some(({ sleeps }) => sleeps)) return silent
  const seenAt = new Map<string, number>()
  for (const { workflows, lastSeenAt } of runners)
    for (const name of workflows) seenAt.set(name, Math.max(lastSeenAt, seenAt.get(name) ?? 0))
  const isNeeded = ({ workflows, lastSeenAt }: Runner) => workflows.some(name => seenAt.get(name) === lastSeenAt)
  return silent.filter(runner => !(runner.sleeps && isNeeded(runner)))
}
