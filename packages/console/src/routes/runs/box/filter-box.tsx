// The box of qualifiers and the chips of statuses above the list.

import { type FormEvent, lazy, Suspense, useEffect, useId, useRef, useState } from 'react'
import { useKeys } from '../../../keys/keys.ts'
import type { QueryName } from '../../../router/routes.ts'
import { Button } from '../../../ui/button.tsx'
import styles from '../runs.module.css'
import { QUALIFIERS, writeBox } from './qualifiers.ts'

// The first list waits neither for these nor for the names of workflows.
const ReadBox = lazy(() => import('./read-box.tsx'))
const RangePicker = lazy(() => import('../../../ui/range/range-picker.tsx'))
const Completions = lazy(() => import('./completion-list.tsx'))

type Name = QueryName<'runs'>
export type GetFilter = (name: Name) => string | undefined
export type SetFilters = (
  changes: { readonly [Key in Name]?: string | undefined },
  options?: { push?: boolean },
) => void

const STATUSES = ['', 'queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled']
/** The engine also returns runs that wait. */
const LABELS: Readonly<Record<string, string>> = { '': 'All', running: 'Active' }

const FREE: readonly Name[] = ['q', 'deep']

export function FilterBox({ get, set }: { get: GetFilter; set: SetFilters }) {
  const box = useRef<HTMLInputElement>(null)
  const text = writeBox(get)
  const completions = useId()
  const [typed, setTyped] = useState(text)
  const [isUsed, setUsed] = useState(false)
  const [sent, setSent] = useState<{ text: string }>()
  useEffect(() => {
    if (box.current) box.current.value = text
    setTyped(text)
    setSent(undefined)
  }, [text])
  useKeys('Filter', [{ keys: 'f', label: 'Filter', run: () => box.current?.select() }])
  const send = (event: FormEvent) => {
    event.preventDefault()
    setSent({ text: box.current?.value ?? '' })
  }
  const apply = (filters: Parameters<SetFilters>[0]) => {
    const cleared = Object.fromEntries([...QUALIFIERS, ...FREE].map(name => [name, undefined]))
    set({ ...cleared, ...filters }, { push: true })
  }
  const status = get('status') ?? ''
  const isRoot = get('root') === 'true'
  return (
    <div className={styles.box}>
      {/* biome-ignore lint/a11y/useSemanticElements: <search> is not known to older readers. */}
      <form onSubmit={send} role="search">
        <input
          ref={box}
          aria-label="Filter runs"
          placeholder="status:failed since:2h text"
          title={`${QUALIFIERS.join(': ')}: in:names text (f)`}
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
      <Suspense>{sent && <ReadBox sent={sent} onRead={apply} />}</Suspense>
      <fieldset className={styles.chips}>
        <legend className="visually-hidden">Status</legend>
        {STATUSES.map(value => (
          <Button
            key={value}
            kind="bare"
            aria-pressed={status === value}
            onClick={() => set({ status: value }, { push: true })}
          >
            {LABELS[value] ?? value.replace(/^./, letter => letter.toUpperCase())}
          </Button>
        ))}
      </fieldset>
      <Button
        kind="bare"
        aria-pressed={isRoot}
        title="Hide child runs"
        onClick={() => set({ root: isRoot ? undefined : 'true' }, { push: true })}
      >
        Root runs
      </Button>
      <Suspense>
        <RangePicker showsSince />
      </Suspense>
    </div>
  )
}
