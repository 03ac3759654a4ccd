// The palette: ids of any kind, sections, workflows, event names and commands, from one box.

import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react'
import { itemsOf, usePages, useRead } from '../data/queries.ts'
import { takeTyped } from '../keys/keys.ts'
import { type Target, useNavigate } from '../router/router.tsx'
import { readBox } from '../routes/runs/box/box.ts'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { targetOfId } from './go.ts'
import styles from './palette.module.css'
import { type Opens, useCommands } from './palette-commands.ts'
import { sections } from './rail.tsx'

interface Result {
  id: string
  label: string
  kind: string
  run(): void
}

const RESULTS_MAX = 24
const NAMES_MAX = 8
/** Names of events are read once nothing was typed for this long. */
const QUIET_MS = 200

export default function Palette({ onClose, ...opens }: Opens & { onClose(): void }) {
  const [text, setText] = useState('')
  useEffect(() => setText(takeTyped()), [])
  const [at, setAt] = useState(0)
  const list = useId()
  const results = useResults(text, opens)
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
        aria-label="Go to an ID, page, workflow, app, event name or command"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={results[at] ? `${list}-${at}` : undefined}
        placeholder="run_…, a page, a workflow, an event, a command"
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

/** Returns event names that begin with the text. The engine searches for them. */
function useEventNames(text: string): string[] {
  const [prefix, setPrefix] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setPrefix(text.trim()), QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  const { data } = usePages('listEventNames', { prefix, limit: NAMES_MAX }, { enabled: prefix !== '', staleMs: 30_000 })
  return useMemo(() => itemsOf({ data }).map(({ name }) => name), [data])
}

function useResults(text: string, opens: Opens): Result[] {
  const navigate = useNavigate()
  const commands = useCommands(opens)
  const eventNames = useEventNames(text)
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data
  const apps = useRead('listApps', {}, { staleMs: 30_000 }).data
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
        to(`workflow:${app}/${name}`, name, `workflow in ${app}`, { to: 'workflow', params: { app, name } }),
      ),
      ...(apps ?? []).map(({ name }) => to(`app:${name}`, name, 'app', { to: 'app', params: { app: name } })),
      ...commands.map(({ label, keys, run }) => ({
        id: `command:${label}`,
        label,
        kind: keys === undefined ? 'command' : `command ${keys}`,
        run,
      })),
      ...eventNames.map(name => to(`event:${name}`, name, 'events with this name', { to: 'events', query: { name } })),
    ]
    const found = all.filter(({ label }) => label.toLowerCase().includes(wanted))
    if (wanted !== '') {
      const read = readBox(text)
      const query = 'filters' in read ? read.filters : { q: text.trim() }
      found.push(to('q', `Runs with “${text.trim()}”`, 'search', { to: 'runs', query }))
    }
    return [...(byId ? [to('id', text.trim(), 'open', byId)] : []), ...found].slice(0, RESULTS_MAX)
  }, [text, workflows, apps, eventNames, commands, navigate])
}
