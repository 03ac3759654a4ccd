// After a fork: the new run's first states, shown here, and the links to it and to its comparison with the source.

import { cutText } from '@perdure/protocol/portable'
import { useEffect, useRef } from 'react'
import { renew, useRead } from '../../../data/queries.ts'
import { useTopic } from '../../../live/use-live.ts'
import { Link } from '../../../router/router.tsx'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { Status } from '../../../ui/status.tsx'
import { useSteps } from '../model/steps.ts'
import { isTerminal } from '../model/use-run.ts'
import css from './actions.module.css'

/** Delay from a frame of the new run to the read of the data that it changed. */
const RENEWAL_MS = 500

export function ForkDone({ newRunId, onClose }: { newRunId: string; onClose(): void }) {
  const { data: run } = useRead('getRun', { id: newRunId }, { keep: false })
  const { data: steps } = useSteps(newRunId)
  const hasEnded = run !== undefined && isTerminal(run.status)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useTopic(hasEnded ? undefined : `run:${newRunId}`, {
    onBatch: () => {
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        void renew('getRun', 'listRunSteps')
      }, RENEWAL_MS)
    },
    // The stream sends the whole timeline, no matter what interrupts it.
    onGap: async () => {},
  })
  return (
    <div className={css.done}>
      <p>
        New run{' '}
        <Link target={{ to: 'run', params: { id: newRunId } }} onClick={onClose}>
          {newRunId}
        </Link>{' '}
        {run && (
          <Polite text={`The new run: ${run.status}`}>
            <Status status={run.status} />
          </Polite>
        )}
      </p>
      <ul className="plain-list">
        {steps?.steps.slice(0, 12).map(step => (
          <li key={step.id}>
            <Status status={step.status} word={cutText(step.name, 80)} />
            {step.carried && <span className="mute"> carried</span>}
          </li>
        ))}
      </ul>
      <p>
        <Link target={{ to: 'run', params: { id: newRunId }, query: { diff: run?.replayOf ?? '' } }} onClick={onClose}>
          Compare with source
        </Link>
      </p>
    </div>
  )
}
