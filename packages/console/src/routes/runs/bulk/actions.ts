// The actions on runs from the list: on one run through its menu, on many as a bulk job.

import type { Item } from '../../../data/queries.ts'

type Run = Item<'listRuns'>

export type BulkAction = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry-failed-step'

interface ActionText {
  label: string
  /** In titles, before a count of runs. */
  verb: string
  /** Past participle: `40 can be retried`. */
  done: string
  /** Describes the effect on the runs. */
  sentence: string
  isDanger: boolean
  /** Whether it starts new runs. */
  startsRuns?: true
  /** Whether the action is possible in the run's state. */
  fits(run: Run): boolean
}

const isOver = ({ finishedAt }: Run) => finishedAt !== undefined

export const ACTIONS: Readonly<Record<BulkAction, ActionText>> = {
  cancel: {
    label: 'Cancel',
    verb: 'Cancel',
    done: 'cancelled',
    sentence: 'Unfinished runs are cancelled, with their children.',
    isDanger: true,
    fits: run => !isOver(run),
  },
  pause: {
    label: 'Pause',
    verb: 'Pause',
    done: 'paused',
    sentence: 'Unfinished runs pause after their current step.',
    isDanger: false,
    fits: run => !isOver(run) && run.status !== 'paused',
  },
  resume: {
    label: 'Resume',
    verb: 'Resume',
    done: 'resumed',
    sentence: 'Paused runs continue where they stopped.',
    isDanger: false,
    fits: ({ status }) => status === 'paused',
  },
  replay: {
    label: 'Replay',
    verb: 'Replay',
    done: 'replayed',
    sentence: 'Each finished run starts again as a new run with the same input.',
    isDanger: false,
    startsRuns: true,
    fits: isOver,
  },
  'retry-failed-step': {
    label: 'Retry failed step',
    verb: 'Retry',
    done: 'retried',
    sentence: 'Each failed run starts again as a new run from its failed step; earlier results are kept.',
    isDanger: false,
    startsRuns: true,
    fits: ({ status }) => status === 'failed',
  },
}

export const BULK_ACTIONS = Object.keys(ACTIONS) as BulkAction[]

/** "1 run", "1,204 runs". */
export const runsText = (count: number): string => `${grouped(count)} ${count === 1 ? 'run' : 'runs'}`
/** Returns `1,204`: grouped in threes, whatever the language of the browser, because users type it to confirm. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')
