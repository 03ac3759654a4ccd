// The work of a cleanup run: calls the handler of cancelled runs, then the rollbacks of the followed run, one at a time, in the
// reverse order in which their steps were stored. A rollback that fails does not stop the others. Called by the replay.

import { NonRetriableError } from '@perdure/client'
import type { CleanupContext } from '@perdure/protocol'
import type { StepId } from '../pass/step-ids.ts'
import type { StepContext } from '../run/run-context.ts'
import type { Rollback } from '../workflow/workflow.ts'
import { rollbackNameOf, type StepToUndo, stepsToUndo } from './followed-run.ts'

/** The rollbacks that a replay of the followed run has found. */
export interface FoundRollbacks {
  /** By hashed id of the step that each one undoes. */
  readonly rollbacks: ReadonlyMap<string, Rollback>
  /** Another replay would not find more of them. */
  readonly isFinal: boolean
}

export interface Cleanup {
  readonly followed: CleanupContext
  /** Calls the handler of cancelled runs; undefined if it must not be called. */
  readonly onCancel: (() => unknown) | undefined
  /** The pass may throw, and is then repeated. */
  readonly mayRepeat: boolean
  /** Takes the id of a step of the cleanup run. */
  takeId(name: string): StepId
  /** Whether the cleanup run has stored the end of the step. */
  isStored(id: StepId): boolean
  /** Replays the handler of the followed run until it has called the wanted steps, by hashed id, or stops before. */
  find(wanted: ReadonlySet<string>): Promise<FoundRollbacks>
  /** Calls the step of a rollback. */
  run(id: StepId, callback: (context: StepContext) => unknown): PromiseLike<unknown>
  /** Turns a stored result into what a handler gets. */
  read(result: unknown, stepName: string): unknown
}

/** Cleans up. @throws CleanupError if something was not undone, when everything has been tried. */
export async function cleanUp(cleanup: Cleanup): Promise<void> {
  const { followed, onCancel, mayRepeat } = cleanup
  // Take the ids first, so that no step in the handler of cancelled runs gets one of them.
  const steps = stepsToUndo(followed).map(step => ({ ...step, by: cleanup.takeId(rollbackNameOf(step.position)) }))
  const open = steps.filter(({ by }) => !cleanup.isStored(by)).map(({ id }) => id)
  // Before any step of the cleanup run is called: the pass may end while a called step has not settled.
  const { rollbacks, isFinal } = open.length === 0 ? NOTHING_FOUND : await cleanup.find(new Set(open))
  if (mayRepeat && !isFinal && open.some(id => !rollbacks.has(id)))
    throw new Error(`The handler, replayed to find the rollbacks of run ${followed.runId}, did not reach all of them`)
  const failures: CleanupFailure[] = []
  if (onCancel) {
    try {
      await onCancel()
    } catch (error) {
      failures.push({ position: undefined, error })
    }
  }
  for (const step of steps) {
    try {
      await cleanup.run(step.by, context => undo(cleanup, step, { rollback: rollbacks.get(step.id), context }))
    } catch (error) {
      failures.push({ position: step.position, error })
    }
  }
  if (failures.length > 0) throw new CleanupError(failures)
}

const NOTHING_FOUND: FoundRollbacks = { rollbacks: new Map(), isFinal: true }

function undo(
  { read }: Cleanup,
  { position, result }: StepToUndo,
  { rollback, context }: { rollback: Rollback | undefined; context: StepContext },
): unknown {
  if (rollback) return rollback(read(result, position), context)
  throw new NonRetriableError(`The code no longer calls step "${position}" with a rollback`)
}

interface CleanupFailure {
  /** The step that was not undone; undefined for the handler of cancelled runs. */
  readonly position: string | undefined
  readonly error: unknown
}

const NAMES_MAX = 5

/** Something was not undone. The cause is the error of the first failure; it decides whether the pass is retried. */
class CleanupError extends Error {
  constructor([first, ...others]: readonly CleanupFailure[]) {
    const { position, error } = first as CleanupFailure
    const what = position === undefined ? 'onCancel failed' : `Step "${position}" was not undone`
    const message = error instanceof Error ? error.message : String(error)
    super(`${what}: ${message}${alsoFailed(others)}`, { cause: error })
    this.name = 'CleanupError'
  }
}

function alsoFailed(others: readonly CleanupFailure[]): string {
  if (others.length === 0) return ''
  const names = others.slice(0, NAMES_MAX).map(({ position }) => `"${position}"`)
  const more = others.length > NAMES_MAX ? ` and ${others.length - NAMES_MAX} more` : ''
  return ` (also not undone: ${names.join(', ')}${more})`
}
