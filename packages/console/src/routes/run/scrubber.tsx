// A slider over the frames of a run, and the state of the run at that moment: its status, the frame, the memo that the pass sent
// to the runner, and the runner's answer.

import { cutText } from '@perdure/protocol/portable'
import { useMemo, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { Status } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import type { WaterfallStep } from '../../waterfall/model.ts'
import { memoOf, nextStop, type PassStretch, passStretches, stretchAt } from '../../waterfall/pass-walk.ts'
import { useStepsWithResults } from './model/steps.ts'
import type { RunView } from './model/use-run.ts'
import css from './scrubber.module.css'
import type { Drawn } from './use-timeline.ts'

/** Maximum number of results shown in the memo and the answer. */
const SHOWN_MAX = 200

export function Scrubber({ view, drawn }: { view: RunView; drawn: Drawn }) {
  const [, set] = useQuery('run')
  const { moment, stops } = drawn
  const { frames, steps } = view
  const stretches = useMemo(() => passStretches(frames, steps), [frames, steps])
  if (!moment) return null
  const place = stops.indexOf(moment.seq)
  const stretch = stretchAt(stretches, moment.seq)
  const goTo = (seq: number | undefined) => set({ seq: seq === undefined ? undefined : String(seq) })
  const where = `${place + 1} of ${stops.length}, at ${durationText(moment.ms)}: ${moment.text}`
  return (
    <section className={css.scrubber} aria-label="Step through the run">
      <div className={css.line}>
        <Button
          aria-label="Previous pass"
          title="Previous pass ([)"
          onClick={() => goTo(nextStop(stretches, moment.seq, -1))}
        >
          ◂
        </Button>
        <input
          type="range"
          className={css.slider}
          min={0}
          max={stops.length - 1}
          value={place}
          aria-label="Position in the run"
          aria-valuetext={where}
          onChange={event => goTo(stops[Number(event.target.value)])}
        />
        <Button aria-label="Next pass" title="Next pass (])" onClick={() => goTo(nextStop(stretches, moment.seq, 1))}>
          ▸
        </Button>
        <Button onClick={() => goTo(undefined)}>Back to now</Button>
      </div>
      <p className={css.facts}>
        <Status status={moment.status} />
        <span>
          at {durationText(moment.ms)} · {stretch?.number ? `pass ${stretch.number}` : 'before the first pass'} ·{' '}
          <Visible text={cutText(moment.text, 300)} />
        </span>
      </p>
      {stretch !== undefined && stretch.number > 0 && <Exchange key={stretch.number} view={view} stretch={stretch} />}
    </section>
  )
}

/** The memo of a pass and its answer. The results are read when one of them is opened. */
function Exchange({ view, stretch }: { view: RunView; stretch: PassStretch }) {
  const [isOpen, setOpen] = useState(false)
  const { frames, steps, isBundle } = view
  const { data } = useStepsWithResults(view.run.id, isOpen && !isBundle)
  const whole = isBundle ? steps : data
  const memo = useMemo(() => memoOf(stretch, frames, whole ?? steps), [stretch, frames, whole, steps])
  const open = (event: { currentTarget: HTMLDetailsElement }) => event.currentTarget.open && setOpen(true)
  const count = stretch.answer.length
  return (
    <>
      <details className={css.part} onToggle={open}>
        <summary>
          Memo sent with pass {stretch.number}: {memo.length} {memo.length === 1 ? 'result' : 'results'}
        </summary>
        {isOpen && whole && <JsonTree text={memoText(memo)} label="the memo" />}
      </details>
      <details className={css.part} onToggle={open}>
        <summary>
          Answer: {count === 0 ? 'no step' : count === 1 ? '1 step' : `${count} steps`}
          {endOf(view, stretch)}
        </summary>
        {isOpen && whole && <JsonTree text={answerText(stretch, whole)} label="the answer" />}
      </details>
    </>
  )
}

/** Explains that a pass ended the run. */
function endOf({ frames }: RunView, { lastSeq, stopSeq }: PassStretch): string {
  const end = frames.findLast(({ seq, kind }) => kind === 'run_status' && seq <= lastSeq && seq >= stopSeq)
  if (end?.kind !== 'run_status') return ''
  if (end.status === 'succeeded') return ', then the handler returned'
  return end.status === 'failed' ? ', then the run failed' : ''
}

const outcomeText = ({ data, error }: WaterfallStep) =>
  error === undefined ? sourceOf(data ?? null) : JSON.stringify({ error: error.message })

/** Returns the memo as JSON: results and errors by the names of their steps. */
function memoText(memo: readonly WaterfallStep[]): string {
  return `{${memo
    .slice(0, SHOWN_MAX)
    .map(step => `${JSON.stringify(step.name)}:${outcomeText(step)}`)
    .join(',')}}`
}

/** Returns the answer as JSON: the steps that the pass reported, with their results. */
function answerText({ answer }: PassStretch, steps: readonly WaterfallStep[]): string {
  const byIndex = new Map(steps.map(step => [step.index, step]))
  const items = answer.slice(0, SHOWN_MAX).map(({ name, index, status, attempt, error }) => {
    const step = index === undefined ? undefined : byIndex.get(index)
    const head = JSON.stringify({ name, op: step?.op, status, attempt, error: error?.message }).slice(0, -1)
    const hasResult = status === 'succeeded' && step?.data !== undefined
    return hasResult ? `${head},"data":${sourceOf(step.data)}}` : `${head}}`
  })
  return `[${items.join(',')}]`
}
