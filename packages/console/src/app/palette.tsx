// The palette: ids of any kind, sections, workflows, event names and commands, from one box.

import { type KeyboardEvent, useId, useMemo, useState } from 'react'
import { useRead } from '../data/queries.ts'
import { type Target, useNavigate } from '../router/router.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { targetOfId } from './go.ts'
import styles from './palette.module.css'
import { sections } from './rail.tsx'

interface Result {
  id: string
  label: string
  kind: string
  run(): void
}

const RESULTS_MAX = 12

export function Palette({ onClose, onHelp }: { onClose(): void; onHelp(): void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const results = useResults(text, onHelp)
  const choose = (result: Result | undefined) => {
    if (!result) return
    onClose()
    result.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key]
    if (event.key === 'Enter') choose(results[at])
    else if (next !== undefined) setAt((next + results.length) % Math.max(1, results.length))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        className={styles.input}
        role="combobox"
        aria-label="Go to an id, a page, a workflow"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={results[at] ? `${list}-${at}` : undefined}
        placeholder="run_…, a workflow, a page"
        spellCheck={false}
        data-autofocus=""
        value={text}
        onChange={event => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Results" className={styles.results}>
        {results.map((result, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the box, which has the focus.
          <div
            key={result.id}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === at}
            tabIndex={-1}
            onClick={() => choose(result)}
          >
            {result.label} <small>{result.kind}</small>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

function useResults(text: string, onHelp: () => void): Result[] {
  const navigate = useNavigate()
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data
  return useMemo(() => {
    const wanted = text.trim().toLowerCase()
    const to = (id: string, label: string, kind: string, target: Target): Result => ({
      id,
      label,
      kind,
      run: () => navigate(target),
    })
    const byId = targetOfId(text.trim())
    const all = [
      ...sections.map(({ to: name, label, key }) => to(`page:${name}`, label, `g ${key}`, { to: name })),
      ...(workflows ?? []).map(({ app, name }) =>
        to(`workflow:${app}/${name}`, name, `workflow of ${app}`, { to: 'workflow', params: { app, name } }),
      ),
      { id: 'help', label: 'Keyboard shortcuts', kind: '?', run: onHelp },
    ]
    const found = all.filter(({ label }) => label.toLowerCase().includes(wanted))
    if (wanted !== '')
      found.push(to('q', `Runs with “${text.trim()}”`, 'search', { to: 'runs', query: { q: text.trim() } }))
    return [...(byId ? [to('id', text.trim(), 'open', byId)] : []), ...found].slice(0, RESULTS_MAX)
  }, [text, workflows, navigate, onHelp])
}
