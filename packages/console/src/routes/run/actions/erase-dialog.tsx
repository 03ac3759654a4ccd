// Asks before a run is erased for good: what is deleted, what stays, and the end of the run's ID, which the user types. Loaded on
// opening.

import { useId, useState } from 'react'
import { renew } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { useNavigate } from '../../../router/router.tsx'
import { WriteButton } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import css from './actions.module.css'

const TYPED_CHARS = 8

/** Afterwards the list of runs replaces the run's page. */
export default function EraseDialog({ runId, onClose }: { runId: string; onClose(): void }) {
  const form = useId()
  const [typed, setTyped] = useState('')
  const erase = useWrite('eraseRun')
  const navigate = useNavigate()
  const input = { id: runId }
  const wanted = runId.slice(-TYPED_CHARS)
  const whyNot = typed.trim() === wanted ? undefined : `type ${wanted} first`
  const act = () =>
    erase.mutate(input, {
      onSuccess: () => {
        navigate({ to: 'runs' }, { replace: true })
        void renew('listRuns', 'getRunFacets', 'getRunTree')
        toast(`Run ${wanted} is erased`)
      },
    })
  return (
    <Dialog
      title="Erase run"
      onClose={onClose}
      call={{ id: 'eraseRun', input }}
      close="Keep run"
      actions={
        <WriteButton kind="danger" type="submit" form={form} disabledBecause={whyNot}>
          {erase.isPending ? 'Erasing…' : 'Erase for good'}
        </WriteButton>
      }
    >
      <form
        id={form}
        className={css.dialog}
        onSubmit={event => {
          event.preventDefault()
          if (whyNot === undefined) act()
        }}
      >
        <p>This cannot be undone.</p>
        <ul>
          <li>Erased: the run with its input, steps, result, logs, timeline and webhook deliveries.</li>
          <li>Erased too: the data of its event, unless another run uses it.</li>
          <li>Kept: the record of the event without its data, child runs, and the entry in the audit log.</li>
        </ul>
        <label className={css.field}>
          Type {wanted}, the end of the run ID, to confirm
          <input
            data-autofocus=""
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={event => setTyped(event.target.value)}
          />
        </label>
        {erase.error && <p role="alert">{erase.error.message}</p>}
      </form>
    </Dialog>
  )
}
