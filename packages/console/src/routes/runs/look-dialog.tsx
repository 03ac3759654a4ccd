// Chooses the columns and the density of the list.

import { type FormEvent, useState } from 'react'
import { useRead } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { ATTRIBUTE_COLUMNS_MAX, attributeKeys, columnOf } from './attribute-keys.ts'
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
/** Maximum number of attributes offered; any other can be typed. */
const OFFERED_MAX = 12
const KEY_CHARS_MAX = 64

export default function LookDialog({ look, onClose }: { look: Look; onClose(): void }) {
  const chosen = attributeKeys(look.columns)
  const change = (columns: readonly string[], keys: readonly string[]) =>
    look.change({ columns: [...columns, ...keys.slice(0, ATTRIBUTE_COLUMNS_MAX).map(columnOf)] })
  const shown = OPTIONAL_COLUMNS.filter(name => look.columns.includes(name))
  const toggle = (name: string) =>
    change(
      OPTIONAL_COLUMNS.filter(each => look.columns.includes(each) !== (each === name)),
      chosen,
    )
  const toggleKey = (key: string) =>
    change(shown, chosen.includes(key) ? chosen.filter(each => each !== key) : [...chosen, key])
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div className={styles.columns}>
        {OPTIONAL_COLUMNS.map(name => (
          <label key={name}>
            <input type="checkbox" checked={look.columns.includes(name)} onChange={() => toggle(name)} />
            {NAMES[name]}
          </label>
        ))}
        <Attributes chosen={chosen} onToggle={toggleKey} />
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

/** The attributes that workflows register, and any other by its key. */
function Attributes({ chosen, onToggle }: { chosen: readonly string[]; onToggle(key: string): void }) {
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  const [typed, setTyped] = useState('')
  const registered = workflows.flatMap(({ attributes = {} }) => Object.keys(attributes)).slice(0, OFFERED_MAX)
  const isFull = chosen.length >= ATTRIBUTE_COLUMNS_MAX
  const add = (event: FormEvent) => {
    event.preventDefault()
    const key = typed.trim()
    if (key !== '' && !chosen.includes(key)) onToggle(key)
    setTyped('')
  }
  return (
    <fieldset className={styles.attributes}>
      <legend>Attributes{isFull && `, at most ${ATTRIBUTE_COLUMNS_MAX}`}</legend>
      {[...new Set([...chosen, ...registered])].map(key => (
        <label key={key}>
          <input
            type="checkbox"
            checked={chosen.includes(key)}
            disabled={isFull && !chosen.includes(key)}
            onChange={() => onToggle(key)}
          />
          {shortName(key)}
        </label>
      ))}
      {!isFull && (
        <form onSubmit={add}>
          <input
            aria-label="Key of an attribute"
            placeholder="Key of an attribute"
            maxLength={KEY_CHARS_MAX}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          <Button type="submit">Add</Button>
        </form>
      )}
    </fieldset>
  )
}
