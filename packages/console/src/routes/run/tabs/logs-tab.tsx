// The log of a run: filtered by level, scope and text, grouped by attempt, followed while the run is live.

import { useEffect, useMemo, useRef, useState } from 'react'
import { sourceOf } from '../../../data/json/parse.ts'
import { useKeys } from '../../../keys/keys.ts'
import { useQuery } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import type { LogFrame } from '../../../waterfall/model.ts'
import type { RunView } from '../model/use-run.ts'
import { useUrlText } from '../model/use-url-text.ts'
import { HANDLER_SCOPE, LogLines, scopeText } from './log-lines.tsx'
import css from './tabs.module.css'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
/** Maximum number of lines in the document; older ones are shown on request. */
const LINES_SHOWN = 500

export function LogsTab({ view }: { view: RunView }) {
  const [get, set] = useQuery('run')
  const [step, scope] = [get('step'), get('scope') ?? '']
  const level = LEVELS.find(one => one === get('level')) ?? 'debug'
  const [text, setText] = useUrlText('text')
  const wraps = get('wrap') !== 'off'
  const [follows, setFollows] = useState(true)
  const [shown, setShown] = useState(LINES_SHOWN)
  const all = useMemo(() => view.frames.filter((frame): frame is LogFrame => frame.kind === 'log'), [view.frames])
  const scopes = useMemo(() => [...new Set(all.map(line => line.scope))].sort().slice(0, 200), [all])
  const lines = useMemo(() => filtered(all, { level, scope, text }), [all, level, scope, text])
  const end = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Scroll to the lines of the step whose bar led here.
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' })
  }, [])
  useEffect(() => {
    if (follows && view.isLive && lines.length > 0 && step === undefined)
      end.current?.scrollIntoView({ block: 'nearest' })
  }, [follows, view.isLive, lines.length, step])
  if (all.length === 0) return <p className={css.none}>No log lines.</p>
  return (
    <div ref={list} className={css.tab}>
      <div className={css.tools} role="toolbar" aria-label="Log">
        <SearchField text={text} onChange={setText} />
        <select aria-label="Minimum level" value={level} onChange={event => set({ level: event.target.value })}>
          {LEVELS.map(one => (
            <option key={one} value={one}>
              {one === 'error' ? 'errors only' : `${one} and above`}
            </option>
          ))}
        </select>
        <select aria-label="Scope" value={scope} onChange={event => set({ scope: event.target.value })}>
          <option value="">all scopes</option>
          {/* A value that came with a link. */}
          {scope !== '' && !scopes.includes(scope) && <option value={scope}>{scopeText(scope)}</option>}
          {scopes.map(one => (
            <option key={one} value={one}>
              {scopeText(one)}
            </option>
          ))}
        </select>
        <Button aria-pressed={wraps} onClick={() => set({ wrap: wraps ? 'off' : undefined })}>
          Wrap
        </Button>
        {view.isLive && (
          <Button aria-pressed={follows} onClick={() => setFollows(!follows)}>
            Follow
          </Button>
        )}
        <span className="mute">
          {lines.length} of {all.length} lines
        </span>
      </div>
      {lines.length > shown && (
        <Button onClick={() => setShown(shown + LINES_SHOWN)}>{lines.length - shown} earlier lines</Button>
      )}
      {groupsOf(lines.slice(-shown)).map(group => (
        <section key={group.first}>
          <h2 className={css.group}>Attempt {group.attempt}</h2>
          <LogLines
            lines={group.lines}
            originMs={view.originMs}
            wraps={wraps}
            current={step}
            onScope={name => set(name === HANDLER_SCOPE ? { tab: undefined } : { tab: undefined, step: name })}
          />
        </section>
      ))}
      <div ref={end} />
    </div>
  )
}

function SearchField({ text, onChange }: { text: string; onChange(text: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  useKeys('Log', [{ keys: 'f', label: 'search the log', run: () => field.current?.select() }])
  return (
    <input
      ref={field}
      type="search"
      placeholder="Search the log"
      title="Search the log (f)"
      aria-label="Search the log"
      value={text}
      onChange={event => onChange(event.target.value)}
    />
  )
}

interface LogFilter {
  level: (typeof LEVELS)[number]
  /** Empty for all scopes. */
  scope: string
  text: string
}

/** Returns the lines of the scope at this level or above, with the text in their message or their fields. */
function filtered(all: readonly LogFrame[], { level, scope, text }: LogFilter): LogFrame[] {
  const wanted = text.toLowerCase()
  const least = LEVELS.indexOf(level)
  return all.filter(
    line =>
      LEVELS.indexOf(line.level as (typeof LEVELS)[number]) >= least &&
      (scope === '' || line.scope === scope) &&
      (wanted === '' || textOf(line).toLowerCase().includes(wanted)),
  )
}

const textOf = ({ message, fields }: LogFrame) => (fields === undefined ? message : `${message} ${sourceOf(fields)}`)

/** Consecutive lines of one attempt. */
function groupsOf(lines: readonly LogFrame[]): { attempt: number; first: number; lines: LogFrame[] }[] {
  const groups: { attempt: number; first: number; lines: LogFrame[] }[] = []
  for (const line of lines) {
    const last = groups[groups.length - 1]
    if (last && last.attempt === line.attempt) last.lines.push(line)
    else groups.push({ attempt: line.attempt, first: line.seq, lines: [line] })
  }
  return groups
}
