// A slider over the frames of a run, and what the run was at that moment: its status, the frame, and the memo that a
// runner would have been sent.

import { useMemo } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { Status } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import { memoAt } from '../../waterfall/scrub.ts'
import type { RunView } from './model/use-run.ts'
import css from './scrubber.module.css'
import type { Drawn } from './use-timeline.ts'

/** Results that the memo shows. */
const MEMO_MAX = 200

export function Scrubber({ view, drawn }: { view: RunView; drawn: Drawn }) {
  const [, set] = useQuery('run')
  const { moment, stops } = drawn
  const memo = useMemo(() => (moment ? memoAt(view.steps, moment) : []), [view.steps, moment])
  const memoText = useMemo(() => textOf(memo), [memo])
  if (!moment) return null
  const place = stops.indexOf(moment.seq)
  const go = (to: number) => set({ seq: String(stops[Math.min(Math.max(to, 0), stops.length - 1)] ?? 1) })
  const where = `${place + 1} of ${stops.length}, at ${durationText(moment.ms)}: ${moment.text}`
  return (
    <section className={css.scrubber} aria-label="The run at a moment">
      <div className={css.line}>
        <Button aria-label="One moment back" title="One moment back ([)" onClick={() => go(place - 1)}>
          ◂
        </Button>
        <input
          type="range"
          className={css.slider}
          min={0}
          max={stops.length - 1}
          value={place}
          aria-label="Moment of the run"
          aria-valuetext={where}
          onChange={event => go(Number(event.target.value))}
        />
        <Button aria-label="One moment on" title="One moment on (])" onClick={() => go(place + 1)}>
          ▸
        </Button>
        <Button onClick={() => set({ seq: undefined })}>Back to now</Button>
      </div>
      <p className={css.facts}>
        <Status status={moment.status} />
        <span>
          at {durationText(moment.ms)} · frame {moment.seq} · <Visible text={moment.text.slice(0, 300)} />
        </span>
      </p>
      <details className={css.memo}>
        <summary>
          The memo: {memo.length} {memo.length === 1 ? 'result' : 'results'} that the next pass was sent
        </summary>
        <JsonTree text={memoText} label="the memo" />
      </details>
    </section>
  )
}

/** The memo as JSON: results and errors by the names of their steps. */
function textOf(memo: ReturnType<typeof memoAt>): string {
  const members = memo.slice(0, MEMO_MAX).map(({ name, data, error }) => {
    const value = error === undefined ? sourceOf(data ?? null) : JSON.stringify({ error: error.message })
    return `${JSON.stringify(name)}:${value}`
  })
  return `{${members.join(',')}}`
}
