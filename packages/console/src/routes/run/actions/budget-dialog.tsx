// Sets limits of the budget of a run, and resumes the runs that wait for the budget. Loaded when the dialog opens.

import type { Calls } from '@perdure/client'
import { useState } from 'react'
import { useWrite } from '../../../data/write.ts'
import { WriteButton } from '../../../ui/button.tsx'
import { Commands } from '../../../ui/overlay/commands.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { ErrorText } from '../model/error-text.tsx'
import css from './actions.module.css'

type Budget = NonNullable<Calls['getRun']['reply']['budget']>

const RENEWED = ['getRun', 'explainRun', 'listControlActions', 'listRuns', 'getRunFacets'] as const

export interface BudgetDialogProps {
  runId: string
  budget: Budget
  onClose(): void
}

export default function BudgetDialog({ runId, budget, onClose }: BudgetDialogProps) {
  const [texts, setTexts] = useState(() =>
    Object.fromEntries(Object.entries(budget).map(([name, { limit }]) => [name, String(limit)])),
  )
  const write = useWrite('setRunBudget', RENEWED)
  const body = changedLimits(budget, texts)
  const input = { id: runId, body }
  const wrong = Object.entries(body).find(([, limit]) => limit !== null && !(limit >= 0))
  const missing = wrong
    ? `give a number for ${wrong[0]}`
    : Object.keys(body).length === 0
      ? 'change a limit'
      : undefined
  const set = () =>
    write.mutate(input, {
      onSuccess: ({ resumed }) => {
        toast(`The limits are set; ${resumed} ${resumed === 1 ? 'run is' : 'runs are'} resumed`)
        onClose()
      },
    })
  return (
    <Dialog
      title="Set the budget"
      onClose={onClose}
      close="Cancel"
      actions={
        <WriteButton kind="primary" disabledBecause={missing} onClick={set}>
          Set limits
        </WriteButton>
      }
    >
      <div className={css.dialog}>
        <p>
          The limits apply to the run and all its descendants. Runs paused for this budget are resumed; runs still over
          a limit are paused again. Leave a field empty for no limit.
        </p>
        {Object.entries(budget).map(([name, { spent }], i) => (
          <label key={name} className={css.field}>
            {shortName(name)}: {String(spent)} spent, at most
            <input
              inputMode="decimal"
              {...(i === 0 && { 'data-autofocus': '' })}
              value={texts[name] ?? ''}
              onChange={event => setTexts({ ...texts, [name]: event.target.value })}
            />
          </label>
        ))}
        {write.error && <ErrorText error={write.error} isShort />}
        <Commands call={{ id: 'setRunBudget', input }} />
      </div>
    </Dialog>
  )
}

/** Returns the limits that differ; null for an empty text. */
function changedLimits(budget: Budget, texts: Readonly<Record<string, string>>): Record<string, number | null> {
  const limits = Object.entries(texts).map(([name, text]) => [name, text.trim() === '' ? null : Number(text)] as const)
  return Object.fromEntries(limits.filter(([name, limit]) => limit !== budget[name]?.limit))
}
