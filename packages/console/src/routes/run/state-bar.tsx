// How the time of a run was spent: one bar, with a legend in milliseconds and percent.

import { useMemo } from 'react'
import { durationText, exactMs } from '../../ui/duration.ts'
import { timeInState } from '../../waterfall/time-in-state.ts'
import type { RunView } from './model/use-run.ts'
import css from './state-bar.module.css'
import type { Drawn } from './use-timeline.ts'

const WORDS: Record<string, string> = {
  child: 'waiting for children',
  event: 'waiting for events',
  sleep: 'sleeping',
  waiting: 'waiting',
}

export function StateBar({ view, drawn }: { view: RunView; drawn: Drawn }) {
  const { latest: bars, index, ageMs: endMs } = drawn
  const shares = useMemo(
    () => timeInState({ statuses: index.statuses, bars, originMs: view.originMs, endMs }),
    [index, bars, view.originMs, endMs],
  )
  // The frames have not arrived: without them the run would seem to have spent all its time in a queue.
  if (index.statuses.length === 0 && view.run.status !== 'queued') return <div className={css.coming} />
  if (shares.length === 0) return null
  return (
    <div className={css.states}>
      <div className={css.bar} aria-hidden="true">
        {shares.map(({ state, part }) => (
          <span key={state} className={css.part} data-state={state} style={{ flexGrow: part }} />
        ))}
      </div>
      <ul className={`plain-list ${css.legend}`} aria-label="Time in state">
        {shares.map(({ state, ms, part }) => (
          <li key={state} title={exactMs(ms)}>
            <span aria-hidden="true" className={css.key} data-state={state} />
            {WORDS[state] ?? state} {durationText(ms)} <span className="mute">{percentText(part)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function percentText(part: number): string {
  const percent = part * 100
  if (percent > 0 && percent < 1) return '< 1 %'
  return percent > 99 && percent < 100 ? '> 99 %' : `${Math.round(percent)} %`
}
