// Sets limits of a workflow that replace the registered ones, or removes them. Loaded when the dialog opens.

import type { WorkflowDefinition } from '@perdure/protocol'
import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { WriteButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'

const LIMITS = ['concurrency', 'throttle'] as const
const LIMIT_MAX = 1_000_000

/** The dialog that sets the limits of a workflow. */
export default function LimitsDialog({ of, onClose }: { of: WorkflowDefinition; onClose(): void }) {
  const { app, name, limits = {}, flowControl = {} } = of
  const offered = LIMITS.filter(limit => flowControl[limit] !== undefined)
  const [texts, setTexts] = useState<Partial<Record<string, string>>>(() =>
    Object.fromEntries(Object.entries(limits).map(([limit, value]) => [limit, String(value)])),
  )
  const write = useWrite('setWorkflowLimits', ['listWorkflows', 'listLimits', 'listRuns', 'explainRun'])
  const numbers = offered.map(limit => [limit, texts[limit]?.trim() ? Number(texts[limit]) : null] as const)
  const input = { app, name, body: Object.fromEntries(numbers) }
  const wrong = numbers.find(
    ([, value]) => value !== null && !(Number.isInteger(value) && value >= 0 && value <= LIMIT_MAX),
  )
  const reason = wrong
    ? `give a whole number for ${wrong[0]}`
    : offered.length === 0
      ? 'the workflow registers no concurrency limit and no throttle'
      : undefined
  const set = () =>
    write.mutate(input, {
      onSuccess: () => {
        toast(`The limits of ${name} are set`)
        onClose()
      },
      onError: toastError,
    })
  return (
    <Dialog
      title="Limits of the workflow"
      onClose={onClose}
      call={{ id: 'setWorkflowLimits', input }}
      close="Cancel"
      actions={
        <WriteButton kind="primary" disabledBecause={reason} onClick={set}>
          Set limits
        </WriteButton>
      }
    >
      <p>
        These limits replace the registered ones, for queued runs too, until they are removed. 0 starts no runs. Leave a
        field empty to use the registered limit.
      </p>
      {offered.map((limit, i) => (
        <p key={limit}>
          <label>
            {limit === 'concurrency' ? 'Runs at once ' : 'Starts in the period of the throttle '}
            <input
              inputMode="numeric"
              {...(i === 0 && { 'data-autofocus': '' })}
              value={texts[limit] ?? ''}
              onChange={event => setTexts({ ...texts, [limit]: event.target.value })}
            />
          </label>
        </p>
      ))}
    </Dialog>
  )
}
