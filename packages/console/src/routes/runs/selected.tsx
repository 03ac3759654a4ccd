// The bar for selected runs: one action for all of them, run by run, with its results counted.

import { useState } from 'react'
import { renew } from '../../data/queries.ts'
import { writeClient } from '../../session/session.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import type { Run } from './columns.tsx'
import styles from './runs.module.css'

const ACTIONS = {
  cancel: {
    label: 'Cancel',
    sentence: 'Runs that have not ended are cancelled, with their children. Ended runs stay as they are.',
    isDanger: true,
    call: (id: string) => writeClient().cancelRun({ id }),
    fits: ({ finishedAt }: Run) => finishedAt === undefined,
  },
  pause: {
    label: 'Pause',
    sentence: 'Runs that have not ended pause after the step that they are at.',
    isDanger: false,
    call: (id: string) => writeClient().pauseRun({ id }),
    fits: ({ finishedAt, status }: Run) => finishedAt === undefined && status !== 'paused',
  },
  resume: {
    label: 'Resume',
    sentence: 'Paused runs go on where they were.',
    isDanger: false,
    call: (id: string) => writeClient().resumeRun({ id }),
    fits: ({ status }: Run) => status === 'paused',
  },
  replay: {
    label: 'Replay',
    sentence: 'Each run starts again as a new run with the same input.',
    isDanger: false,
    call: (id: string) => writeClient().replayRun({ id }),
    fits: () => true,
  },
} as const
type Action = keyof typeof ACTIONS

/** Calls under way at once. */
const CALLS_MAX = 4

export function Selected({ runs, onClear }: { runs: readonly Run[]; onClear(): void }) {
  const [asked, setAsked] = useState<Action>()
  const action = asked && ACTIONS[asked]
  const fitting = action ? runs.filter(action.fits) : []
  return (
    <div className={styles.selected} role="status">
      <span>
        {runs.length} {runs.length === 1 ? 'run' : 'runs'} selected
      </span>
      {Object.entries(ACTIONS).map(([name, { label, fits }]) => (
        <WriteButton
          key={name}
          disabledBecause={runs.some(fits) ? undefined : 'no selected run is in a state for it'}
          onClick={() => setAsked(name as Action)}
        >
          {label}
        </WriteButton>
      ))}
      <Button kind="bare" onClick={onClear}>
        Clear
      </Button>
      {action && (
        <Confirm
          title={`${action.label} ${fitting.length} ${fitting.length === 1 ? 'run' : 'runs'}?`}
          action={`${action.label} ${fitting.length}`}
          isDanger={action.isDanger}
          onConfirm={() => void callAll(action, fitting).then(onClear)}
          onClose={() => setAsked(undefined)}
        >
          <p>{action.sentence}</p>
          {fitting.length < runs.length && (
            <p>{runs.length - fitting.length} of the selected runs are left as they are.</p>
          )}
        </Confirm>
      )}
    </div>
  )
}

/** Calls the action for each run, a few at a time. */
async function callAll({ label, call }: (typeof ACTIONS)[Action], runs: readonly Run[]): Promise<void> {
  const left = [...runs]
  const failures: string[] = []
  const callNext = async (): Promise<void> => {
    for (let run = left.shift(); run; run = left.shift()) {
      await call(run.id).catch((error: Error) => failures.push(error.message))
    }
  }
  await Promise.all(Array.from({ length: CALLS_MAX }, callNext))
  await renew('listRuns')
  const done = runs.length - failures.length
  if (failures.length === 0) toast(`${label}: ${done} done`)
  else toast(`${label}: ${done} done, ${failures.length} refused: ${failures[0]}`, { isError: true })
}
