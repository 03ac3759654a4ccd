// After a fork: the new run's first states in place, and the links to it and to its comparison with the source.

import { useEffect } from 'react'
import { renew, useRead } from '../../../data/queries.ts'
import { Link } from '../../../router/router.tsx'
import { Polite } from '../../../ui/overlay/polite.tsx'
import { Status } from '../../../ui/status.tsx'
import { useSteps } from '../model/steps.ts'
import { isTerminal } from '../model/use-run.ts'
import css from './actions.module.css'

/** The new run is read again at this pace while the dialog is open. */
const FOLLOW_MS = 1000

export function ForkDone({ newRunId, onClose }: { newRunId: string; onClose(): void }) {
  const { data: run } = useRead('getRun', { id: newRunId }, { keep: false })
  const { data: steps } = useSteps(newRunId)
  const hasEnded = run !== undefined && isTerminal(run.status)
  useEffect(() => {
    if (hasEnded) return
    const timer = setInterval(() => void renew('getRun', 'listRunSteps'), FOLLOW_MS)
    return () => clearInterval(timer)
  }, [hasEnded])
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
      <ul className={css.steps}>
        {steps?.steps.slice(0, 12).map(step => (
          <li key={step.id}>
            <Status status={step.status} word={step.name.slice(0, 80)} />
            {step.carried && <span className={css.mute}> carried</span>}
          </li>
        ))}
      </ul>
      <p>
        <Link target={{ to: 'run', params: { id: newRunId }, query: { diff: run?.replayOf ?? '' } }} onClick={onClose}>
          Compare it with its source
        </Link>
      </p>
    </div>
  )
}
