// Actions on all failed runs of an error group, each as a bulk job that is counted first.

import { lazy, Suspense, useState } from 'react'
import { WriteButton } from '../../ui/button.tsx'
import type { BulkAction } from '../runs/bulk/actions.ts'

const BulkDialog = lazy(() => import('../runs/bulk/bulk-dialog.tsx').then(module => ({ default: module.BulkDialog })))

/** The actions on failed runs. */
const LABELS = {
  replay: 'Replay all in group…',
  'retry-failed-step': 'Retry failed step in all…',
} as const satisfies Partial<Record<BulkAction, string>>
export type GroupAction = keyof typeof LABELS
const GROUP_ACTIONS = Object.keys(LABELS) as GroupAction[]

export function GroupActions({ fingerprint, ended }: { fingerprint: string; ended: Ended }) {
  const [chosen, setChosen] = useState<GroupAction>()
  return (
    <>
      {GROUP_ACTIONS.map(action => (
        <WriteButton startsRuns key={action} onClick={() => setChosen(action)}>
          {LABELS[action]}
        </WriteButton>
      ))}
      {chosen && (
        <GroupDialog action={chosen} fingerprint={fingerprint} ended={ended} onClose={() => setChosen(undefined)} />
      )}
    </>
  )
}

/** Returns the same actions for the menu of a row. */
export const groupMenu = (disabledBecause: string | undefined, onChoose: (action: GroupAction) => void) =>
  GROUP_ACTIONS.map(action => ({
    label: LABELS[action],
    disabledBecause,
    onSelect: () => onChoose(action),
  }))

interface GroupDialogProps {
  action: GroupAction
  fingerprint: string
  ended: Ended
  onClose(): void
}

/** The times of a window, by the ends of runs, as bulk jobs filter them. */
export interface Ended {
  endedSince?: string
  endedUntil?: string
}

/** Counts the runs of the group that ended in the window, and asks. */
export function GroupDialog({ action, fingerprint, ended, onClose }: GroupDialogProps) {
  return (
    <Suspense>
      <BulkDialog action={action} target={{ filter: { error: fingerprint, ...ended } }} onClose={onClose} />
    </Suspense>
  )
}
