// The passes of a run: when each was sent, what it settled, and how the run went on. Derived from the frames, which show a
// pass where the run's status changed.

import { useMemo } from 'react'
import { useQuery } from '../../../router/router.tsx'
import { durationText } from '../../../ui/duration.ts'
import { Status } from '../../../ui/status.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import { type PassOfFrames, passesOf } from '../../../waterfall/passes.ts'
import type { RunView } from '../model/use-run.ts'
import css from './tabs.module.css'

const PASSES_MAX = 500

export function PassesTab({ view }: { view: RunView }) {
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

function PassSteps({ pass }: { pass: PassOfFrames }) {
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
