// Chooses the runner of a pass (docs/wire-protocol.md#routing): for an anycast run at random among the live runners that serve
// its workflow, for a pinned run its pin.

import { knows } from '@perdure/protocol'
import type { Run } from '../model/run.ts'
import type { Runner } from '../model/workflow.ts'

export type Route =
  | { kind: 'runner'; runner: Runner }
  /** No runner can take the pass now: none serves the workflow, or all that serve it are avoided. */
  | { kind: 'none' }
  /** The pin names a runner that is not registered. */
  | { kind: 'pinMissing' }

export interface RouteInput {
  run: Pick<Run, 'app' | 'workflow' | 'runner' | 'cleanupOf'>
  /** Registered runners of the run's app. */
  runners: readonly Runner[]
  isLive(runner: Runner): boolean
  /** Whether the runner refused this pass, or refused another one a moment ago. */
  isAvoided(runner: Runner): boolean
  /** Whether the runner has room for the pass. Such runners are preferred. */
  hasRoom?(runner: Runner): boolean
  /** In [0, 1). */
  random: number
}

export function route({ run, runners, isLive, isAvoided, hasRoom, random }: RouteInput): Route {
  if (run.runner !== undefined) {
    const pinned = runners.find(runner => runner.runnerId === run.runner)
    if (!pinned) return { kind: 'pinMissing' }
    return !serves(pinned, run) || isAvoided(pinned) ? { kind: 'none' } : { kind: 'runner', runner: pinned }
  }
  // Most apps have one runner.
  if (runners.length === 1) {
    const [only] = runners as [Runner]
    return !serves(only, run) || isAvoided(only) ? { kind: 'none' } : { kind: 'runner', runner: only }
  }
  const candidates = runners.filter(runner => serves(runner, run) && !isAvoided(runner))
  const live = candidates.filter(isLive)
  const reachable = live.length > 0 ? live : candidates
  const free = hasRoom && reachable.length > 1 ? reachable.filter(hasRoom) : []
  const pool = free.length > 0 ? free : reachable
  const runner = pool[Math.floor(random * pool.length)]
  return runner ? { kind: 'runner', runner } : { kind: 'none' }
}

/**
 * Whether the runner's newest registration has the run's workflow. A runner without it would reject the run for good. A runner
 * that does not know cleanup runs would execute the handler instead of the cleanup.
 */
export function serves(
  { workflows, features }: Pick<Runner, 'workflows' | 'features'>,
  { workflow, cleanupOf }: Pick<Run, 'workflow' | 'cleanupOf'>,
): boolean {
  return workflows.includes(workflow) && (cleanupOf === undefined || knows(features, 'cleanup'))
}
