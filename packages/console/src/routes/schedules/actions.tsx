// The actions on one schedule, in its row.

import { useState } from 'react'
import { useNow } from '../../data/time/clock.ts'
import { useWrite } from '../../data/write.ts'
import { WriteButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { localTime } from '../../ui/time.ts'
import type { Schedule } from './cells.tsx'
import css from './schedules.module.css'

export function Actions({ schedule: { id, paused, workflow, event } }: { schedule: Schedule }) {
  const [asks, setAsks] = useState<'fire' | 'change'>()
  const fire = useWrite('fireSchedule', ['listSchedules'])
  const changing = paused ? 'resumeSchedule' : 'pauseSchedule'
  const change = useWrite(changing, ['listSchedules'])
  const now = useNow()
  const close = () => setAsks(undefined)
  const onError = (error: Error) => toast(error.message, { isError: true })
  return (
    <span className={css.actions}>
      <WriteButton startsRuns onClick={() => setAsks('fire')}>
        Fire now…
      </WriteButton>
      <WriteButton onClick={() => setAsks('change')}>{paused ? 'Resume…' : 'Pause…'}</WriteButton>
      {asks === 'fire' && (
        <Confirm
          title="Fire now"
          action="Fire"
          call={{ id: 'fireSchedule', input: { id } }}
          onConfirm={() =>
            fire.mutate({ id }, { onSuccess: ({ runId, eventId }) => toast(`Fired: ${runId ?? eventId}`), onError })
          }
          onClose={close}
        >
          {workflow === undefined
            ? `The event ${event?.name} arrives now, at ${localTime(now)}.`
            : `A run of ${workflow} starts now, at ${localTime(now)}.`}{' '}
          Later runs are not affected.
        </Confirm>
      )}
      {asks === 'change' && (
        <Confirm
          title={paused ? 'Resume the schedule' : 'Pause the schedule'}
          action={paused ? 'Resume' : 'Pause'}
          call={{ id: changing, input: { id } }}
          onConfirm={() => change.mutate({ id }, { onError })}
          onClose={close}
        >
          {paused
            ? 'It fires again at its next scheduled time. Missed times are not made up.'
            : 'It does not fire until it is resumed. Runs already started continue.'}
        </Confirm>
      )}
    </span>
  )
}
