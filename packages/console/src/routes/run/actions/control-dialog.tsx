// Asks before a run is cancelled, paused or resumed: one sentence with what will happen, and the commands that do the same.

import { useWrite } from '../../../data/queries.ts'
import { ENGINE_URL } from '../../../router/base.ts'
import { useSession, whyNoWrite } from '../../../session/session.ts'
import { Confirm } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { actionCommands } from '../model/commands.ts'
import type { RunView } from '../model/use-run.ts'
import { CommandsView } from './commands-view.tsx'
import { controlSentence } from './sentences.ts'

const OPERATIONS = { cancel: 'cancelRun', pause: 'pauseRun', resume: 'resumeRun' } as const
const TITLES = { cancel: 'Cancel this run', pause: 'Pause this run', resume: 'Resume this run' } as const
const KEEPS = { cancel: 'Keep it running', pause: 'Keep it running', resume: 'Keep it paused' } as const

export interface ControlDialogProps {
  view: RunView
  action: 'cancel' | 'pause' | 'resume'
  onClose(): void
}

export function ControlDialog({ view, action, onClose }: ControlDialogProps) {
  const { run, steps } = view
  const write = useWrite(OPERATIONS[action], ['getRun', 'listRunSteps', 'explainRun', 'listControlActions', 'listRuns'])
  return (
    <Confirm
      title={TITLES[action]}
      action={TITLES[action].replace(' this run', '')}
      keep={KEEPS[action]}
      isDanger={action === 'cancel'}
      disabledBecause={whyNoWrite(useSession())}
      onClose={onClose}
      onConfirm={() =>
        write.mutate(
          { id: run.id },
          {
            onSuccess: ({ status }) => toast(`The run is ${status}`),
            onError: error => toast(error.message, { isError: true }),
          },
        )
      }
    >
      <p>{controlSentence(action, steps)}</p>
      <CommandsView command={actionCommands(ENGINE_URL, run.id, action)} />
    </Confirm>
  )
}
