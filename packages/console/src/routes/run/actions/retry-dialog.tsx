// Retries a run from a step, after listing what is kept and what is executed again.

import { useMemo } from 'react'
import { useWrite } from '../../../data/write.ts'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { Commands } from '../../../ui/overlay/commands.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { retryPlan } from '../../../waterfall/retry-plan.ts'
import { ErrorText } from '../model/error-text.tsx'
import type { RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { ForkDone } from './fork-done.tsx'
import { retrySentence } from './sentences.ts'

const LISTED_MAX = 12

export function RetryDialog({ view, stepName, onClose }: { view: RunView; stepName: string; onClose(): void }) {
  const { run, steps } = view
  const write = useWrite('retryRunFromStep', ['listRuns', 'listControlActions'])
  const plan = useMemo(() => {
    const from = findStep(steps, stepName)
    return from && retryPlan(steps, from, run.error?.stepName)
  }, [steps, stepName, run.error])
  return (
    <Dialog
      title={`Retry from ${shortName(stepName)}`}
      onClose={onClose}
      actions={
        write.data ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button data-autofocus="" onClick={onClose}>
              Cancel
            </Button>
            <WriteButton
              startsRuns
              kind="primary"
              onClick={() => write.mutate({ id: run.id, body: { step: stepName } })}
            >
              Retry from here
            </WriteButton>
          </>
        )
      }
    >
      <div className={css.dialog}>
        {write.data ? (
          <ForkDone newRunId={write.data.id} onClose={onClose} />
        ) : (
          <>
            {plan && <p>{retrySentence(plan, shortName(stepName))}</p>}
            {plan && (
              <div className={css.plan}>
                <StepList title="Kept" steps={plan.carried} />
                <StepList title="Executed again" steps={plan.rerun} />
              </div>
            )}
            {write.error && <ErrorText error={write.error} isShort />}
            <Commands call={{ id: 'retryRunFromStep', input: { id: run.id, body: { step: stepName } } }} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** The step of a label: a name, with `:n` for its n-th repeat. */
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
      <ul className={css.steps}>
        {steps.slice(0, LISTED_MAX).map(({ id, name, status }) => (
          <li key={id}>
            <Status status={status} word={shortName(name)} />
          </li>
        ))}
        {steps.length > LISTED_MAX && <li className={css.mute}>{steps.length - LISTED_MAX} more</li>}
      </ul>
    </section>
  )
}
