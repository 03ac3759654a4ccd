// Retries a run from a step, after listing the steps that are kept and those that are executed again.

import { useMemo } from 'react'
import { useWrite } from '../../../data/write.ts'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { retryPlan } from '../../../waterfall/retry-plan.ts'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { ForkDialog, RENEWED_BY_FORK } from './fork-dialog.tsx'
import { retrySentence } from './sentences.ts'

const LISTED_MAX = 12

export function RetryDialog({ view, stepName, onClose }: { view: RunView; stepName: string; onClose(): void }) {
  const { run, steps } = view
  const write = useWrite('retryRunFromStep', RENEWED_BY_FORK)
  const plan = useMemo(() => {
    const from = findStep(steps, stepName)
    return from && retryPlan(steps, from, run.error?.stepName)
  }, [steps, stepName, run.error])
  const input = { id: run.id, body: { step: stepName } }
  return (
    <ForkDialog
      title={`Retry from ${shortName(stepName)}`}
      write={write}
      action="Retry from here"
      call={{ id: 'retryRunFromStep', input }}
      onFork={() => write.mutate(input)}
      onClose={onClose}
    >
      {plan && <p>{retrySentence(plan, shortName(stepName))}</p>}
      {plan && (
        <div className={css.plan}>
          <StepList title="Kept" steps={plan.carried} />
          <StepList title="Executed again" steps={plan.rerun} />
        </div>
      )}
    </ForkDialog>
  )
}

/** Returns the step with a label: a name, with `:n` for its n-th repeat. */
function findStep(steps: readonly WaterfallStep[], label: string): WaterfallStep | undefined {
  const uses = new Map<string, number>()
  return steps.find(({ name }) => {
    const use = uses.get(name) ?? 0
    uses.set(name, use + 1)
    return label === (use === 0 ? name : `${name}:${use}`)
  })
}

function StepList({ title, steps }: { title: string; steps: readonly WaterfallStep[] }) {
  return (
    <section>
      <h3>
        {title}: {steps.length}
      </h3>
      <ul className="plain-list">
        {steps.slice(0, LISTED_MAX).map(({ id, name, status }) => (
          <li key={id}>
            <Status status={status} word={shortName(name)} />
          </li>
        ))}
        {steps.length > LISTED_MAX && <li className="mute">{steps.length - LISTED_MAX} more</li>}
      </ul>
    </section>
  )
}
