// The box of qualifiers and the chips of statuses above the list.

import { type FormEvent, lazy, Suspense, useEffect, useId, useRef, useState } from 'react'
import { useKeys } from '../../keys/keys.ts'
import type { QueryName } from '../../router/routes.ts'
import { Button } from '../../ui/button.tsx'
import { QUALIFIERS, readBox, writeBox } from './qualifiers.ts'
import styles from './runs.module.css'

// The first list waits neither for them nor for the names of workflows.
const Completions = lazy(() => import('./completion-list.tsx'))

type Name = QueryName<'runs'>
export type Get = (name: Name) => string | undefined
export type Set = (changes: { readonly [Key in Name]?: string | undefined }, options?: { push?: boolean }) => void

const STATUSES = [
  [undefined, 'All'],
  ['queued', 'Queued'],
  // The engine answers runs that wait, too.
  ['running', 'Running or waiting'],
  ['waiting', 'Waiting'],
  ['paused', 'Paused'],
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
] as const

const FREE: readonly Name[] = ['q', 'deep']

export function FilterBox({ get, set }: { get: Get; set: Set }) {
  const box = useRef<HTMLInputElement>(null)
  const text = writeBox(get)
  const completions = useId()
  const [typed, setTyped] = useState(text)
  const [isUsed, setUsed] = useState(false)
  useEffect(() => {
    if (box.current) box.current.value = text
    setTyped(text)
  }, [text])
  useKeys('Filter', [{ keys: 'f', label: 'Filter', run: () => box.current?.select() }])
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const cleared = Object.fromEntries([...Object.values(QUALIFIERS), ...FREE].map(name => [name, undefined]))
    set({ ...cleared, ...readBox(box.current?.value ?? '') }, { push: true })
  }
  const status = get('status')
  return (
    <div className={styles.box}>
      {/* biome-ignore lint/a11y/useSemanticElements: <search> is not known to older readers. */}
      <form onSubmit={apply} role="search">
        <input
          ref={box}
          aria-label="Filter runs"
          placeholder="status:failed workflow:… since:2h text"
          title="status: workflow: app: type: since: until: waiting: error: parent: in:payload text (f)"
          spellCheck={false}
          autoComplete="off"
          list={completions}
          defaultValue={text}
          onFocus={() => setUsed(true)}
          onChange={event => setTyped(event.target.value)}
        />
        <Suspense>{isUsed && <Completions id={completions} text={typed} />}</Suspense>
        <Button type="submit">Filter</Button>
      </form>
      <fieldset className={styles.chips}>
        <legend className="visually-hidden">Status</legend>
        {STATUSES.map(([value, label]) => (
          <Button
            key={label}
            kind="bare"
            aria-pressed={status === value}
            onClick={() => set({ status: value }, { push: true })}
          >
            {label}
          </Button>
        ))}
      </fieldset>
    </div>
  )
}

/** The filters that hold, each with the way to drop it. */
export function activeFilters(get: Get, set: Set) {
  const names: readonly [string, Name][] = [...Object.entries(QUALIFIERS), ['text', 'q'], ['in', 'deep']]
  return names.flatMap(([label, name]) => {
    const value = get(name)
    return value === undefined ? [] : [{ label: `${label}:${value}`, drop: () => set({ [name]: undefined }) }]
  })
}
