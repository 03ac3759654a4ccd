// Decides what happens when the tries of a step or a pass are spent in a workflow with pause on failure
// (docs/concepts.md#pause-on-failure): the run is paused, its children stay, its parent waits, and a resume gives new tries.
// Called by domain/pass.

import type { RunError } from '@perdure/protocol'
import type { CatalogView } from '../model/catalog.ts'
import { type Run, runKind } from '../model/run.ts'
import type { Step } from '../model/step.ts'
import { frameError } from '../view/timeline-frames.ts'
import type { Draft } from './draft.ts'
import type { RunState } from './state.ts'

/** Whether spent tries pause the run. A run that follows another one always fails. */
export function pausesWhenExhausted(run: Readonly<Run>, catalog: CatalogView): boolean {
  return runKind(run) === 'run' && catalog.workflow(run.app, run.workflow)?.whenExhausted === 'pause'
}

/** Pauses the drafted run. The shown reason is the first of several failures; a resume tries every `step` again. */
export function pauseForFailure(draft: Draft, error: RunError, step?: Pick<Step, 'id'>): void {
  const shown = frameError(error)
  const { waitingFor, lastFailure = shown } = draft.run
  const earlier = waitingFor?.kind === 'failure' ? waitingFor : undefined
  const stepIds = [...(earlier?.stepIds ?? []), ...(step ? [step.id] : [])]
  const { stepName, message } = shown
  draft.set({
    waitingFor: {
      ...(earlier ?? { kind: 'failure', ...(stepName === undefined ? {} : { stepName }), error: message }),
      ...(stepIds.length === 0 ? {} : { stepIds }),
    },
    lastFailure: earlier ? lastFailure : shown,
  })
  draft.move('paused', shown)
}

/** The step with spent tries whose stored failure a handler did not catch; the last one if several are alike. */
export function spentStep(state: RunState, { stepName, message, stack, name }: RunError): Step | undefined {
  const spent = [...state.steps.values()]
    .filter(step => step.name === stepName && step.status === 'failed' && step.spentAt === step.attempt)
    .sort((a, b) => a.seq - b.seq)
  const alike = spent.filter(
    ({ error }) => error?.message === message && error?.stack === stack && error?.name === name,
  )
  return alike.at(-1) ?? spent.at(-1)
}

/** Gives a paused run new tries. `now` is the time at which its failed steps become due. */
export function renewTries(draft: Draft, state: RunState, now: number): void {
  const { waitingFor, transportTries, attempt } = draft.run
  if (transportTries > 0) draft.set({ transportTries: 0, lastFailure: undefined })
  if (waitingFor?.kind !== 'failure') return
  draft.set({ waitingFor: undefined, lastFailure: undefined, attempt: attempt + 1 })
  for (const id of waitingFor.stepIds ?? []) {
    const step = state.steps.get(id)
    if (step?.status === 'failed')
      draft.moveStep(step, { status: 'retrying', nextAttemptAt: now, finishedAt: undefined })
  }
}
