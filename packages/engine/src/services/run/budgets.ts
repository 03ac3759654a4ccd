// Shows budgets and sets their limits (docs/budgets.md#raise-a-limit): first it sets the limits, with the audit entry in the
// same commit, then it resumes the runs that wait for the budget. The caller may repeat the call. Called by the HTTP routes.

import { type BudgetLine, problemOfNames, type ShownBudget, shownBudget } from '../../domain/model/budget/budget.ts'
import { rounded } from '../../domain/model/budget/sum.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { Decision } from '../../domain/model/decision.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { isTerminal, type Run } from '../../domain/model/run.ts'
import { ownBudget } from '../../domain/run/budget/budgets.ts'
import { resume } from '../../domain/run/control.ts'
import { RunState } from '../../domain/run/state.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** New limits by name; null removes one. */
export type NewLimits = Readonly<Record<string, number | null>>

export interface ChangedBudget {
  /** The first run of the chain. */
  budgetId: string
  budget: ShownBudget
  /** Number of runs that waited for the budget and were resumed. */
  resumed: number
}

/** Waiting runs in one read. */
const PAGE = 100

export class Budgets {
  readonly #deps: Pick<Core, 'store' | 'announcer' | 'clock' | 'audit'>

  constructor(deps: Pick<Core, 'store' | 'announcer' | 'clock' | 'audit'>) {
    this.#deps = deps
  }

  /** The budget that began with the chain of the run; undefined if the chain has none. */
  async of(run: Run): Promise<ShownBudget | undefined> {
    const own = ownBudget(run)
    return own && shownBudget(await this.#deps.store.budgets([own.id]), own.id)
  }

  /**
   * Sets limits of the run's own budget, and resumes the runs that are paused for it.
   * @throws EngineError `not_found`; `conflict` for a run without a budget of its own; `run_terminal`.
   */
  async set(actor: Actor, runId: string, limits: NewLimits): Promise<ChangedBudget> {
    const { store, announcer, audit } = this.#deps
    const set = Object.fromEntries(
      Object.entries(limits).map(([name, limit]) => [name, limit === null ? null : rounded(limit)]),
    )
    let budgetId = ''
    const unit = await decideAndCommit<Unit>({
      store,
      decide: async () => {
        const run = await this.#newest(actor, runId)
        budgetId = budgetIdOf(run)
        refuseTooMany(await store.budgets([budgetId]), set)
        const { id, fence } = run
        return {
          guards: [{ type: 'run', runId: id, fence }],
          changes: [{ type: 'budget.limited', budgetId, limits: set }],
        }
      },
      commit: unit => audit.commit(actor, unit, { action: 'run.budget', runId, detail: JSON.stringify(set) }),
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
    const resumed = await this.#resumeWaiting(budgetId)
    return { budgetId, budget: shownBudget(await store.budgets([budgetId]), budgetId), resumed }
  }

  /** The newest run of the chain, which has not ended. */
  async #newest({ namespace }: Actor, runId: string): Promise<Run> {
    const reads = this.#deps.store.in(namespace)
    const run = await reads.run(runId)
    if (!run) throw new EngineError('not_found', `There is no run ${shownRunId(runId)}.`)
    const newest = run.continuedAs === undefined ? run : await reads.newestOfChain(run.chainId ?? run.id)
    const { status } = newest ?? run
    if (newest && !isTerminal(status)) return newest
    const message = `Run ${shownRunId(runId)} has ended: its budget can't be changed.`
    throw new EngineError('run_terminal', message, { details: { status } })
  }

  async #resumeWaiting(budgetId: string): Promise<number> {
    let resumed = 0
    for (let after = ''; ; ) {
      const ids = await this.#deps.store.waitingForBudget({ budgetId, after, limit: PAGE })
      for (const id of ids) if (await this.#resume(id, budgetId)) resumed++
      const last = ids.at(-1)
      if (last === undefined) return resumed
      after = last
    }
  }

  /**
   * Resumes the run, and returns whether it waited for the budget. A run that still exceeds a limit is paused again before its
   * next pass.
   */
  async #resume(runId: string, budgetId: string): Promise<boolean> {
    const { store, clock, announcer } = this.#deps
    const decision = await decideAndCommit<Decision>({
      store,
      decide: async () => {
        const loaded = await store.loadRun(runId)
        const waits = loaded?.run.status === 'paused' && loaded.run.waitingFor?.budgetId === budgetId
        return waits ? resume(RunState.loaded(loaded), clock.now()) : undefined
      },
      onStale: () => true,
    })
    if (decision) announcer.announce(decision.changes)
    return decision !== undefined
  }
}

function budgetIdOf(run: Run): string {
  const own = ownBudget(run)
  if (own) return own.id
  const above = (run.budgets ?? []).map(({ id }) => shownRunId(id))
  const why =
    above.length === 0
      ? ', and no run above it has one'
      : `: it counts towards ${above.length === 1 ? 'the budget of run' : 'the budgets of runs'} ${above.join(', ')}`
  throw new EngineError('conflict', `Run ${shownRunId(run.id)} has no budget of its own${why}.`, {
    details: { runIds: above },
  })
}

function refuseTooMany(lines: readonly BudgetLine[], limits: NewLimits): void {
  const problem = problemOfNames([...new Set([...lines.map(({ name }) => name), ...Object.keys(limits)])])
  if (problem) throw invalid('body', problem)
}
