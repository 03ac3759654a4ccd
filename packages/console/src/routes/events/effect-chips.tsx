// The effect of an event, as chips: the workflows that it started, or the policy that held it back, and the waits that it woke.

import type { EventRecord } from '@perdure/protocol'
import { Link } from '../../router/router.tsx'
import css from './events.module.css'

const FLAGS = ['delivered', 'deduped', 'dropped', 'skipped', 'debounced', 'batched'] as const
const CHIPS_SHOWN = 6

export function EffectChips({ event: { triggered, woke } }: { event: Pick<EventRecord, 'triggered' | 'woke'> }) {
  if (triggered.length === 0 && woke === 0) return <span className="mute">no runs started</span>
  return (
    <span className={css.chips}>
      {triggered.slice(0, CHIPS_SHOWN).map(entry => (
        <Chip key={`${entry.app}/${entry.workflow}`} entry={entry} />
      ))}
      {triggered.length > CHIPS_SHOWN && <span className="mute">and {triggered.length - CHIPS_SHOWN} more</span>}
      {woke > 0 && <span className={css.chip}>resumed {woke}</span>}
    </span>
  )
}

function Chip({ entry }: { entry: EventRecord['triggered'][number] }) {
  const { workflow, liveRunId, delivered } = entry
  // A delivered event links to the run that it was delivered to.
  const runId = entry.runId ?? (delivered ? liveRunId : undefined)
  const flag = FLAGS.find(flag => entry[flag])
  const text = (
    <>
      {workflow}
      {flag !== undefined && <span className="mute"> {flag}</span>}
    </>
  )
  if (runId === undefined) return <span className={css.chip}>{text}</span>
  return (
    <Link className={css.chip} target={{ to: 'run', params: { id: runId } }} title={runId}>
      {text}
    </Link>
  )
}
