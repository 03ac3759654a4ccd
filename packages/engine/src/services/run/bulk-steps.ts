// The steps of a bulk action on one run: the decision of the same action on a single run. Called by bulk-slice.

import { startAlone } from '../../domain/arrival/singleton.ts'
import { type BulkAction, type BulkInput, type BulkJob, isStillMatched } from '../../domain/model/bulk.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { DecidedUnit } from '../../domain/model/decision.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { cancel, type Fork, failedStep, pause, replay, resume, retryFromStep } from '../../domain/run/control.ts'
import type { RunState } from '../../domain/run/state.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { Core } from '../commit/core.ts'
import { decideInTurns } from '../commit/turns.ts'
import { loadState, noRun, underOf } from './subject.ts'

export interface BulkStepsDeps extends Pick<Core, 'store' | 'catalog' | 'namespaces' | 'clock' | 'report'> {
  /** Aborts the invoke in flight of a run that was just ended. */
  interrupt(runId: string): void
  /** Takes the pass of a run that was just paused out of the queue for runner room. */
  withdraw(runId: string): void
}

/** A decision about one run, which is made again after a lost race. */
export interface BulkStep {
  decide(assumptions: Assumptions): DecidedUnit
  /** Reads again the rows that the decision rests on. */
  reload?(): Promise<void>
  newRunId?: string
  /** Called when the decision is durable. */
  afterwards?(): void
}

interface Subject {
  job: BulkJob
  given: BulkInput
  runId: string
  /** Id and time of a fork. */
  newRun: { id: string; now: number }
}

export class BulkSteps {
  readonly #deps: BulkStepsDeps

  constructor(deps: BulkStepsDeps) {
    this.#deps = deps
  }

  /** @throws EngineError a refusal, when the run's state does not allow the action. */
  of(subject: Subject): Promise<BulkStep> {
    return ACTIONS[subject.job.action](this.#deps, subject)
  }
}

type StepOf = (deps: BulkStepsDeps, subject: Subject) => Promise<BulkStep>

const ACTIONS: { readonly [Action in BulkAction]: StepOf } = {
  cancel: (deps, subject) =>
    onState(deps, subject, {
      decide: state =>
        cancel(state, {
          now: deps.clock.now(),
          catalog: deps.catalog.view(subject.job.namespace),
          skipsCleanup: subject.job.skipsCleanup,
        }),
      afterwards: () => deps.interrupt(subject.runId),
    }),
  pause: (deps, subject) =>
    onState(deps, subject, {
      decide: state => {
        const paused = pause(state, deps.clock.now())
        if (!paused) throw new EngineError('conflict', `Run ${shownRunId(subject.runId)} is already paused.`)
        return paused
      },
      afterwards: () => deps.withdraw(subject.runId),
    }),
  resume: (deps, subject) => onState(deps, subject, { decide: state => resume(state, deps.clock.now()) }),
  replay: async (deps, { job, given, runId, newRun }) => {
    deps.namespaces.assertActive(job.namespace)
    const source = await deps.store.in(job.namespace).run(runId)
    if (!source) throw noRun(runId)
    const how = { ...newRun, input: given.input, under: underOf(deps, source), trace: job.trace }
    return forked(deps, await decideInTurns(job.namespace, () => replay(source, how)))
  },
  'retry-failed-step': async (deps, { job, runId, newRun }) => {
    deps.namespaces.assertActive(job.namespace)
    const state = await loadState(deps, job, runId)
    const step = failedStep(state)
    if (!step) throw new EngineError('conflict', `Run ${shownRunId(runId)} did not end because a step failed.`)
    const cleanups = state.hasRollback ? await deps.store.in(job.namespace).cleanups(runId) : undefined
    const how = { ...newRun, step: step.id, cleanups, under: underOf(deps, state.run), trace: job.trace }
    return forked(deps, await decideInTurns(job.namespace, () => retryFromStep(state, how)))
  },
}

async function onState(
  deps: BulkStepsDeps,
  { job, runId }: Subject,
  action: { decide: (state: RunState) => Unit; afterwards?: () => void },
): Promise<BulkStep> {
  const { afterwards } = action
  let state = await loadState(deps, job, runId)
  // The run may have changed since the slice found it.
  const decide = (): Unit => {
    if (isStillMatched(job.filter ?? {}, state.run)) return action.decide(state)
    throw new EngineError('conflict', `Run ${shownRunId(runId)} no longer matches the filter.`)
  }
  const reload = async () => {
    state = await loadState(deps, job, runId)
  }
  return { decide, reload, ...(afterwards && { afterwards }) }
}

/** The source is finished and never changes, so only a singleton of its workflow adds guards. */
function forked(deps: BulkStepsDeps, fork: Fork): BulkStep {
  const { run } = fork
  const decide = (assumptions: Assumptions) => {
    const { catalog, clock } = deps
    const facts = { assumptions, catalog: catalog.view(run.namespace), now: clock.now() }
    return startAlone(fork, { ...underOf(deps, run), ...facts })
  }
  return { decide, newRunId: run.id }
}
