// Actions on a workflow: run it now, pause or resume it, set its limits, delete it.

import type { WorkflowDefinition } from '@perdure/protocol'
import { lazy, Suspense, useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { useNavigate } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'

const LimitsDialog = lazy(() => import('./limits-dialog.tsx'))
const RunDialog = lazy(() => import('./run-dialog.tsx').then(module => ({ default: module.RunDialog })))

export function WorkflowActions({ of }: { of: WorkflowDefinition }) {
  const { app, name, pausedAt } = of
  const [asks, setAsks] = useState<'run' | 'pause' | 'limits' | 'delete'>()
  const isPaused = pausedAt !== undefined
  const changing = isPaused ? 'resumeWorkflow' : 'pauseWorkflow'
  const change = useWrite(changing, ['listWorkflows', 'listLimits'])
  const apply = () =>
    change.mutate(
      { app, name },
      { onSuccess: () => toast(isPaused ? `${name} starts runs again` : `${name} is paused`), onError: toastError },
    )
  const close = () => setAsks(undefined)
  return (
    <>
      <WriteButton startsRuns onClick={() => setAsks('run')}>
        Run now…
      </WriteButton>
      <WriteButton onClick={() => setAsks('pause')}>{isPaused ? 'Resume…' : 'Pause…'}</WriteButton>
      <WriteButton onClick={() => setAsks('limits')}>Limits…</WriteButton>
      <WriteButton onClick={() => setAsks('delete')}>Delete…</WriteButton>
      {asks === 'run' && (
        <Suspense>
          <RunDialog app={app} name={name} schema={of.input} onClose={close} />
        </Suspense>
      )}
      {asks === 'limits' && (
        <Suspense>
          <LimitsDialog of={of} onClose={close} />
        </Suspense>
      )}
      {asks === 'pause' && (
        <Confirm
          title={isPaused ? 'Resume workflow' : 'Pause workflow'}
          action={isPaused ? 'Resume' : 'Pause'}
          call={{ id: changing, input: { app, name } }}
          onConfirm={apply}
          onClose={close}
        >
          {isPaused
            ? `Waiting runs of ${name} start, within its limits.`
            : `New runs of ${name} stay queued until it is resumed. Runs already started continue.`}
        </Confirm>
      )}
      {asks === 'delete' && <DeleteDialog app={app} name={name} onClose={close} />}
    </>
  )
}

function DeleteDialog({ app, name, onClose }: { app: string; name: string; onClose(): void }) {
  const [force, setForce] = useState(false)
  const navigate = useNavigate()
  const remove = useWrite('deleteWorkflow', ['listWorkflows', 'listSchedules', 'listBuffers'])
  const apply = () =>
    remove.mutate(
      { app, name, force },
      {
        onSuccess: () => {
          toast(`${name} is deleted`)
          navigate({ to: 'workflows' })
        },
        onError: toastError,
      },
    )
  return (
    <Confirm
      title="Delete workflow"
      action="Delete"
      isDanger
      call={{ id: 'deleteWorkflow', input: { app, name, force } }}
      onConfirm={apply}
      onClose={onClose}
    >
      <p>
        {name} in {app} is deleted with its schedules and buffers. Ended runs stay. Runs in flight prevent the deletion.
      </p>
      <label>
        <input type="checkbox" checked={force} onChange={event => setForce(event.target.checked)} /> Delete it even
        while a live runner serves it: it stays deleted until a runner registers another definition
      </label>
    </Confirm>
  )
}
