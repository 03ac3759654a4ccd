// The dialog of an action that creates a new run from this one: its effect, its button, and then the new run.

import type { ReactNode } from 'react'
import type { Call } from '../../../data/commands/request.ts'
import type { Write } from '../../../data/write.ts'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { Commands } from '../../../ui/overlay/commands.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { ErrorText } from '../model/error-text.tsx'
import css from './actions.module.css'
import { ForkDone } from './fork-done.tsx'

/** The reads that a fork changes. */
export const RENEWED_BY_FORK = ['listRuns', 'listControlActions'] as const

export interface ForkDialogProps {
  title: string
  write: Pick<Write<'replayRun' | 'retryRunFromStep'>, 'data' | 'error'>
  /** The label of the button. */
  action: string
  disabledBecause?: string | undefined
  /** It has an editor: no button gets the focus then. */
  isWide?: boolean
  call: Call | undefined
  children: ReactNode
  onFork(): void
  onClose(): void
}

export function ForkDialog({ title, write, isWide, call, children, onFork, onClose, ...button }: ForkDialogProps) {
  const { data: made, error } = write
  return (
    <Dialog
      title={title}
      isWide={isWide}
      onClose={onClose}
      actions={
        made ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <Button data-autofocus={isWide ? undefined : ''} onClick={onClose}>
              Cancel
            </Button>
            <WriteButton startsRuns kind="primary" disabledBecause={button.disabledBecause} onClick={onFork}>
              {button.action}
            </WriteButton>
          </>
        )
      }
    >
      <div className={css.dialog}>
        {made ? (
          <ForkDone newRunId={made.id} onClose={onClose} />
        ) : (
          <>
            {children}
            {error && <ErrorText error={error} isShort />}
            {call && <Commands call={call} />}
          </>
        )}
      </div>
    </Dialog>
  )
}
