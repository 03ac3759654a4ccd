// Chooses the columns and the density of the list.

import { Dialog } from '../../ui/overlay/dialog.tsx'
import { OPTIONAL_COLUMNS } from './columns.tsx'
import type { Look } from './look.ts'
import styles from './runs.module.css'

const NAMES: Readonly<Record<(typeof OPTIONAL_COLUMNS)[number], string>> = {
  trigger: 'Trigger',
  why: 'Current step, or what the run waits for',
  started: 'Created',
  duration: 'Duration',
  attempt: 'Attempt',
  app: 'App',
  pin: 'Pinned to',
}

export default function LookDialog({ look, onClose }: { look: Look; onClose(): void }) {
  const toggle = (name: string) =>
    look.change({ columns: OPTIONAL_COLUMNS.filter(each => look.columns.includes(each) !== (each === name)) })
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div className={styles.columns}>
        {OPTIONAL_COLUMNS.map(name => (
          <label key={name}>
            <input type="checkbox" checked={look.columns.includes(name)} onChange={() => toggle(name)} />
            {NAMES[name]}
          </label>
        ))}
        <label>
          <input
            type="checkbox"
            checked={look.isDense}
            onChange={({ target }) => look.change({ isDense: target.checked })}
          />
          Compact rows
        </label>
      </div>
    </Dialog>
  )
}
