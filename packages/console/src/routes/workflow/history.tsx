// The changes of a workflow's definition: when each was registered, by which runner, and its changes as a comparison that opens.

import { useEffect, useRef } from 'react'
import { DiffView } from '../../ui/diff/diff-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Visible } from '../../ui/visible.tsx'
import { type DefinitionChange, definitionText } from '../workflows/past-definitions.ts'
import css from '../workflows/workflows.module.css'

export interface HistoryProps {
  changes: readonly DefinitionChange[]
  /** When the definition whose change is to be shown came into effect. */
  shown: string | undefined
}

export function History({ changes, shown }: HistoryProps) {
  const compared = changes.flatMap(({ now, before, text }) => (before ? [{ now, before, text }] : []))
  if (compared.length === 0) return null
  return (
    <Panel title="Definition changes">
      <ul className={`plain-list ${css.history}`}>
        {compared.map(change => (
          <li key={change.now.registeredAt}>
            <Change change={change} isShown={change.now.registeredAt === shown} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Change({ change, isShown }: { change: Required<DefinitionChange>; isShown: boolean }) {
  const { now, before, text } = change
  const ref = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (!isShown || !ref.current) return
    ref.current.open = true
    ref.current.querySelector('summary')?.focus()
  }, [isShown])
  return (
    <details ref={ref}>
      <summary>
        <Moment at={now.registeredAt} /> {text}
        {now.runner !== undefined && (
          <span className="mute">
            {' '}
            by <Visible text={now.runner} />
          </span>
        )}
      </summary>
      <DiffView
        before={definitionText(before)}
        after={definitionText(now)}
        label={`Definition before and after ${now.registeredAt}`}
        isPublic
      />
    </details>
  )
}
