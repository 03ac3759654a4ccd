// The menu of a row in the list: actions on its run, each confirmed before it is done, and values to copy.

import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { CONSOLE_ROOT } from '../../router/base.ts'
import { useNavigate, useUrl } from '../../router/router.tsx'
import { useSession, whyNoNewRun, whyNoWrite } from '../../session/session.ts'
import { copyText } from '../../ui/overlay/copy.tsx'
import { copyCommand } from '../../ui/overlay/copy-command.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { PopupMenu } from '../../ui/overlay/popup-menu.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { CleanupBox } from '../run/actions/cleanup-box.tsx'
import { ACTIONS } from './bulk/actions.ts'
import type { Run } from './columns.tsx'

const OPERATIONS = { cancel: 'cancelRun', pause: 'pauseRun', resume: 'resumeRun', replay: 'replayRun' } as const
type Action = keyof typeof OPERATIONS
const NAMES = Object.keys(OPERATIONS) as Action[]

export interface RowMenuProps {
  run: Run
  /** The row. */
  anchor: HTMLElement
  onClose(): void
}

export default function RowMenu({ run, anchor, onClose }: RowMenuProps) {
  const [chosen, setChosen] = useState<Action>()
  const session = useSession()
  const navigate = useNavigate()
  const target = { to: 'run', params: { id: run.id } } as const
  const link = location.origin + CONSOLE_ROOT + useUrl()(target)
  const read = { id: 'getRun', input: { id: run.id } } as const
  if (chosen) return <Ask run={run} action={chosen} onClose={onClose} />
  return (
    <PopupMenu
      anchor={anchor}
      name={`Actions on ${run.id}`}
      onClose={onClose}
      items={[
        { label: 'Open', keys: 'Enter', onSelect: () => navigate(target) },
        { label: 'Copy link', onSelect: () => void copyText(link, 'Link copied') },
        { label: 'Copy ID', keys: 'c', onSelect: () => void copyText(run.id, 'ID copied') },
        { label: 'Copy as perdure', onSelect: () => void copyCommand(read, 'perdure') },
        { label: 'Copy as curl', onSelect: () => void copyCommand(read, 'curl') },
        ...NAMES.map(action => ({
          label: `${ACTIONS[action].label}…`,
          isDanger: ACTIONS[action].isDanger,
          disabledBecause:
            (ACTIONS[action].startsRuns ? whyNoNewRun : whyNoWrite)(session) ??
            (ACTIONS[action].fits(run) ? undefined : `the run is ${run.status}`),
          keepsOpen: true,
          onSelect: () => setChosen(action),
        })),
      ]}
    />
  )
}

function Ask({ run, action, onClose }: { run: Run; action: Action; onClose(): void }) {
  const { label, sentence, isDanger } = ACTIONS[action]
  const write = useWrite(OPERATIONS[action], ['listRuns'])
  const [cleansUp, setCleansUp] = useState(true)
  const input = { id: run.id }
  const without = { ...input, body: { cleanup: false } }
  const act = () =>
    write.mutate(cleansUp ? input : without, {
      onSuccess: ({ id, status }) => toast(id === run.id ? `The run is ${status}` : `The new run is ${id}`),
      onError: toastError,
    })
  return (
    <Confirm
      title={`${label} this run?`}
      action={`${label} run`}
      isDanger={isDanger}
      call={cleansUp ? { id: OPERATIONS[action], input } : { id: 'cancelRun', input: without }}
      onConfirm={act}
      onClose={onClose}
    >
      <p>{sentence}</p>
      {action === 'cancel' && run.kind === undefined && <CleanupBox isOn={cleansUp} onChange={setCleansUp} />}
      <p>
        <code>{run.id}</code>
      </p>
    </Confirm>
  )
}
