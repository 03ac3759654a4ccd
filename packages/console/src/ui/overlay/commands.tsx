// The commands that do the same as an action, for dialogs and pages. The code that makes them is loaded when they are shown.

import { lazy, Suspense } from 'react'
import type { Call } from '../../data/commands/request.ts'

const CommandsView = lazy(() => import('./commands-view.tsx'))

export interface CommandsProps {
  /** The calls of the action, in their order. */
  call: Call | readonly Call[]
}

export function Commands({ call }: CommandsProps) {
  return (
    <Suspense>
      <CommandsView call={call} />
    </Suspense>
  )
}
