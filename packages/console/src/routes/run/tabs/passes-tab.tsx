// The passes of a run: which runner had each and when, what it settled, and how the run went on. A bundle's are derived from
// its frames, which show a pass where the run's status changed.

import type { PassRecord } from '@perdure/protocol'
import { useMemo } from 'react'
import { itemsOf, usePages } from '../../../data/queries.ts'
import { useQuery } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { Status } from '../../../ui/status.tsx'
import { exactTime } from '../../../ui/time.ts'
import { shortName } from '../../../ui/visible-text.ts'
import { type PassOfFrames, passesOf } from '../../../waterfall/passes.ts'
import type { RunView } from '../model/use-run.ts'
import css from './tabs.module.css'

const PASSES_MAX = 500

export function PassesTab({ view }: { view: RunView }) {
  return view.isBundle ? <FramePasses view={view} /> : <EnginePasses view={view} />
}

function EnginePasses({ view }: { view: RunView }) {
  const pages = usePages('listRunPasses', { id: view.run.id, limit: 200 }, { keep: false })
  return (
    <Loaded query={pages}>
      {() => {
        const passes = itemsOf(pages)
        if (passes.length === 0) return <p className={css.none}>No runner has been called yet.</p>
        return (
          <>
            <div className={css.scroller}>
              <table className={css.table}>
                <caption className="visually-hidden">Passes of the run</caption>
                <thead>
                  <tr>
                    <th scope="col">Sent at</th>
                    <th scope="col">Took</th>
                    <th scope="col">Runner</th>
                    <th scope="col">Attempt</th>
                    <th scope="col">Steps</th>
                    <th scope="col">Outcome</th>
                  </tr>
                </thead>
                <tbody>
                  {passes.map(pass => (
                    <PassRow key={pass.pass} pass={pass} originMs={view.originMs} />
                  ))}
                </tbody>
              </table>
            </div>
            {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>More passes</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

const OUTCOMES: Record<PassRecord['outcome'], readonly [string, string]> = {
  running: ['running', 'under way'],
  steps: ['succeeded', 'reported steps'],
  returned: ['succeeded', 'the handler returned'],
  failed: ['failed', 'failed'],
  none: ['cancelled', 'nothing that counted'],
}

function PassRow({ pass, originMs }: { pass: PassRecord; originMs: number }) {
  const { runner, sentAt, answeredAt, outcome, attempt, steps, error } = pass
  const sentMs = Date.parse(sentAt)
  const [status, word] = OUTCOMES[outcome]
  const shown = steps.map(({ index, name, status, attempt }) => ({ seq: index * 1000 + attempt, name, status }))
  return (
    <tr>
      <td title={exactTime(sentMs)}>{durationText(Math.max(sentMs - originMs, 0))}</td>
      <td>{answeredAt === undefined ? '' : durationText(Math.max(Date.parse(answeredAt) - sentMs, 0))}</td>
      <td>{shortName(runner)}</td>
      <td>{attempt}</td>
      <td>
        <PassSteps pass={{ steps: shown, ...(error === undefined ? {} : { error: error.message }) }} />
      </td>
      <td>
        <Status status={status} word={word} />
      </td>
    </tr>
  )
}

function FramePasses({ view }: { view: RunView }) {
  const [, set] = useQuery('run')
  const passes = useMemo(() => passesOf(view.frames, view.originMs), [view.frames, view.originMs])
  if (passes.length === 0) return <p className={css.none}>No runner has been called yet.</p>
  return (
    <>
      <table className={css.table}>
        <caption className="visually-hidden">Passes of the run</caption>
        <thead>
          <tr>
            <th scope="col">Sent at</th>
            <th scope="col">Took</th>
            <th scope="col">Attempt</th>
            <th scope="col">Steps</th>
            <th scope="col">Then</th>
          </tr>
        </thead>
        <tbody>
          {passes.slice(0, PASSES_MAX).map(pass => (
            <tr key={pass.seq}>
              <td>
                <button
                  type="button"
                  className={css.link}
                  onClick={() => set({ tab: undefined, seq: String(pass.seq) })}
                >
                  {durationText(pass.fromMs)}
                </button>
              </td>
              <td>{pass.toMs === undefined ? 'now' : durationText(pass.toMs - pass.fromMs)}</td>
              <td>{pass.attempt}</td>
              <td>
                <PassSteps pass={pass} />
              </td>
              <td>{pass.next === undefined ? '' : <Status status={pass.next} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {passes.length > PASSES_MAX && <p className={css.none}>{passes.length - PASSES_MAX} passes more.</p>}
    </>
  )
}

const STEPS_MAX = 8

function PassSteps({ pass }: { pass: Pick<PassOfFrames, 'steps' | 'error'> }) {
  const rest = pass.steps.length - STEPS_MAX
  return (
    <>
      {pass.steps.slice(0, STEPS_MAX).map(({ seq, name, status }) => (
        <span key={seq} className={css.step}>
          <Status status={status} word={shortName(name, 40)} />
        </span>
      ))}
      {rest > 0 && `and ${rest} more`}
      {pass.error !== undefined && <span className={css.error}>{shortName(pass.error, 200)}</span>}
    </>
  )
}
