// The commands that do the same as an action, for dialogs and pages. The code that creates them is loaded when they are shown.

import { lazy, Suspense } from 'react'
import type { Call } from '../../data/commands/request.ts'
import styles from './overlay.module.css'

const CommandsView = lazy(() => import('./commands-view.tsx'))

export interface CommandsProps {
  /** The calls of the action, in order. */
  call: Call | readonly Call[]
}

export function Commands({ call }: CommandsProps) {
  return (
    // As high as the view, so that no button moves under a click when it arrives.
    <Suspense fallback={<div className={styles.commandsRoom} />}>
      <CommandsView call={call} />
    </Suspense>
  )
}
