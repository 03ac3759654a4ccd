// The actions on a run: which are possible in its state, and the dialogs that explain the effect of each.

import { lazy, Suspense, useRef } from 'react'
import { useKeys } from '../../../keys/keys.ts'
import { useSession, whyNoNewRun, whyNoWrite } from '../../../session/session.ts'
import { WriteButton } from '../../../ui/button.tsx'
import { copyText } from '../../../ui/overlay/copy.tsx'
import { copyCommand } from '../../../ui/overlay/copy-command.ts'
import { Menu } from '../../../ui/overlay/menu.tsx'
import { useVeil } from '../../../ui/veil.ts'
import { isTerminal, type RunView } from '../model/use-run.ts'
import css from './actions.module.css'
import { ControlDialog } from './control-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { RetryDialog } from './retry-dialog.tsx'

const EraseDialog = lazy(() => import('./rare-dialogs.ts').then(all => ({ default: all.EraseDialog })))
const SignalDialog = lazy(() => import('./rare-dialogs.ts').then(all => ({ default: all.SignalDialog })))

/** The dialog that is open. */
export type OpenAction =
  | 'replay'
  | 'edit'
  | 'cancel'
  | 'pause'
  | 'resume'
  | 'signal'
  | 'erase'
  | { retry: string }
  | undefined

export interface ActionsProps {
  view: RunView
  open: OpenAction
  setOpen(action: OpenAction): void
}

export function Actions({ view, open, setOpen }: ActionsProps) {
  const { run } = view
  const session = useSession()
  const bar = useRef<HTMLDivElement>(null)
  const [refused, noNewRun] = [whyNoWrite(session), whyNoNewRun(session)]
  const hasEnded = isTerminal(run.status)
  const unseen = useVeil().isHidden ? 'payloads are hidden' : undefined
  const notEnded = hasEnded ? undefined : 'only finished runs can be replayed'
  useKeys('Run', [
    { keys: 'r', label: 'replay', run: () => hasEnded && noNewRun === undefined && setOpen('replay') },
    {
      keys: 'e',
      label: 'edit and replay',
      run: () => hasEnded && (noNewRun ?? unseen) === undefined && setOpen('edit'),
    },
    {
      keys: '.',
      label: 'all actions',
      run: () => bar.current?.querySelector<HTMLElement>('[aria-haspopup]')?.click(),
    },
  ])
  const ended = hasEnded ? 'the run has ended' : undefined
  const read = { id: 'getRun', input: { id: run.id } } as const
  return (
    <div ref={bar} className={css.actions}>
      {hasEnded && (
        <>
          <WriteButton startsRuns title="Replay (r)" onClick={() => setOpen('replay')}>
            Replay
          </WriteButton>
          <WriteButton startsRuns title="Edit and replay (e)" disabledBecause={unseen} onClick={() => setOpen('edit')}>
            Edit and replay…
          </WriteButton>
        </>
      )}
      <Menu
        label="⋯"
        name="More actions"
        keys="."
        items={[
          ...(hasEnded ? [] : [{ label: 'Replay…', disabledBecause: notEnded, onSelect: () => setOpen('replay') }]),
          {
            label: 'Pause…',
            disabledBecause: refused ?? ended ?? (run.status === 'paused' ? 'the run is paused' : undefined),
            onSelect: () => setOpen('pause'),
          },
          {
            label: 'Send signal…',
            disabledBecause: refused ?? ended,
            onSelect: () => setOpen('signal'),
          },
          {
            label: 'Cancel…',
            isDanger: true,
            disabledBecause: refused ?? ended,
            onSelect: () => setOpen('cancel'),
          },
          { label: 'Copy ID', keys: 'c', onSelect: () => void copyText(run.id, 'ID copied') },
          { label: 'Copy as perdure', onSelect: () => void copyCommand(read, 'perdure') },
          { label: 'Copy as curl', onSelect: () => void copyCommand(read, 'curl') },
          {
            label: 'Erase…',
            isDanger: true,
            disabledBecause: refused ?? (hasEnded ? undefined : 'only finished runs can be erased'),
            onSelect: () => setOpen('erase'),
          },
        ]}
      />
      <OpenDialog view={view} open={open} onClose={() => setOpen(undefined)} />
    </div>
  )
}

function OpenDialog({ view, open, onClose }: { view: RunView; open: OpenAction; onClose(): void }) {
  if (open === undefined) return null
  if (open === 'replay') return <ReplayDialog view={view} onClose={onClose} />
  if (open === 'edit') return <EditDialog view={view} onClose={onClose} />
  if (open === 'signal')
    return (
      <Suspense>
        <SignalDialog runId={view.run.id} awaited={view.run.waitingFor?.signal} onClose={onClose} />
      </Suspense>
    )
  if (open === 'erase')
    return (
      <Suspense>
        <EraseDialog runId={view.run.id} onClose={onClose} />
      </Suspense>
    )
  if (typeof open === 'object') return <RetryDialog view={view} stepName={open.retry} onClose={onClose} />
  return <ControlDialog view={view} action={open} onClose={onClose} />
}
