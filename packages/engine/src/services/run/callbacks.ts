// Posts to the callbacks of runs (docs/steps.md#callbacks): each settles the step that waits for it, once, or is kept until the
// step begins to wait. Called by http/routes/event/callbacks.ts.

import { earlyCallbacks, earlyCallbacksId, keepCallback } from '../../domain/arrival/callback/early-callbacks.ts'
import type { Guard, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { isTerminal } from '../../domain/model/run.ts'
import { isSettled, type Step } from '../../domain/model/step.ts'
import { RunState } from '../../domain/run/state.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { CallbackName, CallbackTokens } from '../support/callback-tokens.ts'

/** Maximum posts to one callback in a second, at each engine. */
const POSTS_PER_SECOND_MAX = 10

export interface CallbacksDeps extends Pick<Core, 'store' | 'announcer' | 'clock'> {
  callbackTokens: CallbackTokens
}

export class Callbacks {
  readonly #deps: CallbacksDeps
  /** Posts of the current second, by token. */
  readonly #posts = new Map<string, number>()
  #second = 0

  constructor(deps: CallbacksDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the post is durable. A paused run and a suspended namespace take it too.
   * @throws EngineError `not_found` for a token that is not valid, `rate_limited`, `callback_used`, `gone` when the step has
   * timed out or the run has ended, `conflict` when the run has too many callbacks that it does not wait for yet.
   */
  async post(token: string, data: JsonText): Promise<void> {
    const { store, announcer, callbackTokens } = this.#deps
    const callback = callbackTokens.read(token)
    if (!callback) throw new EngineError('not_found', 'no such callback')
    this.#count(token)
    const unit = await decideAndCommit<Unit>({
      store,
      decide: () => this.#decide(callback, data),
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes, callback.namespace)
  }

  #count(token: string): void {
    const second = Math.floor(this.#deps.clock.elapsed() / 1000)
    if (second !== this.#second) this.#posts.clear()
    this.#second = second
    const posts = (this.#posts.get(token) ?? 0) + 1
    if (posts > POSTS_PER_SECOND_MAX)
      throw new EngineError(
        'rate_limited',
        `the callback received more than ${POSTS_PER_SECOND_MAX} posts in a second`,
        {
          details: { limit: POSTS_PER_SECOND_MAX },
        },
      )
    this.#posts.set(token, posts)
  }

  async #decide({ namespace, runId, stepId }: CallbackName, data: JsonText): Promise<Unit> {
    const { store, clock } = this.#deps
    const rowId = earlyCallbacksId({ namespace, id: runId })
    const [loaded, row] = await Promise.all([store.loadRun(runId), store.flowRow(rowId)])
    // After the reads: a step may have begun to wait meanwhile, and it ends after it began.
    const now = clock.now()
    if (loaded?.run.namespace !== namespace) throw gone('the run no longer exists')
    const state = RunState.loaded(loaded)
    const { run, lastStepSeq } = state
    const step = state.steps.get(stepId)
    refuseUsed(step, row, stepId)
    if (isTerminal(run.status) || run.cancelRequested) throw gone('the run has ended')
    if (step && isTimedOut(step, now)) throw gone('the callback has timed out')
    const guards: Guard[] = [
      { type: 'run', runId, fence: run.fence },
      { type: 'steps', runId, seq: lastStepSeq },
    ]
    if (step) {
      const woken = { type: 'step.woken', runId, stepIndex: step.index, status: 'succeeded', data, at: now } as const
      return { guards, changes: [woken] }
    }
    return {
      guards: [...guards, { type: 'flow', id: rowId, version: row?.version ?? 0 }],
      changes: [keepCallback({ namespace, id: runId }, row, { stepId, data, now })],
    }
  }
}

function refuseUsed(step: Step | undefined, row: FlowRow | undefined, stepId: string): void {
  const isUsed = step
    ? step.op !== 'WaitForCallback' || (isSettled(step.status) && step.status !== 'cancelled' && !step.timedOut)
    : earlyCallbacks(row).has(stepId)
  if (isUsed) throw new EngineError('callback_used', 'the callback was already used')
}

function isTimedOut({ timedOut, wakeAt }: Step, now: number): boolean {
  return timedOut === true || (wakeAt !== undefined && wakeAt <= now)
}

function gone(message: string): EngineError {
  return new EngineError('gone', message)
}
