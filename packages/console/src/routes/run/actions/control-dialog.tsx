// Asks before a run is cancelled, paused or resumed: one sentence about the effect, and the commands that do the same.

import { useState } from 'react'
import { useRead } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { useSession, whyNoWrite } from '../../../session/session.ts'
import { Confirm } from '../../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../../ui/overlay/toasts.tsx'
import { openDescendants } from '../model/tree.ts'
import type { RunView } from '../model/use-run.ts'
import { CleanupBox } from './cleanup-box.tsx'
import { controlSentence } from './sentences.ts'

const OPERATIONS = { cancel: 'cancelRun', pause: 'pauseRun', resume: 'resumeRun' } as const
const TITLES = { cancel: 'Cancel run', pause: 'Pause run', resume: 'Resume run' } as const

const RENEWED = ['getRun', 'listRunSteps', 'explainRun', 'listControlActions', 'listRuns', 'getRunTree'] as const

export interface ControlDialogProps {
  view: RunView
  action: 'cancel' | 'pause' | 'resume'
  onClose(): void
}

export function ControlDialog({ view, action, onClose }: ControlDialogProps) {
  const { run, steps } = view
  const [cleansUp, setCleansUp] = useState(true)
  const startsRuns = steps.some(({ childRunId }) => childRunId !== undefined)
  const tree = useRead('getRunTree', { id: run.id }, { keep: false, enabled: action === 'cancel' && startsRuns }).data
  const children = tree && { count: openDescendants(tree), isCut: tree.truncated }
  const write = useWrite(OPERATIONS[action], RENEWED)
  const input = { id: run.id, ...(cleansUp ? {} : { body: { cleanup: false } }) }
  return (
    <Confirm
      title={TITLES[action]}
      action={TITLES[action]}
      isDanger={action === 'cancel'}
      disabledBecause={whyNoWrite(useSession())}
      onClose={onClose}
      call={{ id: OPERATIONS[action], input }}
      onConfirm={() =>
        write.mutate(input, { onSuccess: ({ status }) => toast(`The run is ${status}`), onError: toastError })
      }
    >
      <p>{controlSentence(action, steps, { children, cleansUp: cleansUp && run.kind === undefined })}</p>
      {action === 'cancel' && run.kind === undefined && <CleanupBox isOn={cleansUp} onChange={setCleansUp} />}
    </Confirm>
  )
}
