// The actions on one schedule: the buttons in its row, and the question before it is deleted.

import { useState } from 'react'
import { useNow } from '../../data/time/clock.ts'
import { useWrite } from '../../data/write.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { localTime } from '../../ui/time.ts'
import { useVeil } from '../../ui/veil.ts'
import type { Schedule } from './cells.tsx'
import { ScheduleDialog } from './schedule-dialog.tsx'
import css from './schedules.module.css'

export function Actions({ schedule }: { schedule: Schedule }) {
  const { id, paused, workflow, event } = schedule
  const [asks, setAsks] = useState<'fire' | 'change' | 'edit'>()
  const unseen = useVeil().isHidden ? 'payloads are hidden' : undefined
  const fire = useWrite('fireSchedule', ['listSchedules'])
  const changing = paused ? 'resumeSchedule' : 'pauseSchedule'
  const change = useWrite(changing, ['listSchedules'])
  const now = useNow()
  const close = () => setAsks(undefined)
  return (
    <span className={css.actions}>
      <WriteButton startsRuns onClick={() => setAsks('fire')}>
        Fire now…
      </WriteButton>
      <WriteButton onClick={() => setAsks('change')}>{paused ? 'Resume…' : 'Pause…'}</WriteButton>
      {schedule.source === 'workflow' ? (
        <Button onClick={() => setAsks('edit')}>Edit…</Button>
      ) : (
        <WriteButton disabledBecause={unseen} onClick={() => setAsks('edit')}>
          Edit…
        </WriteButton>
      )}
      {asks === 'edit' && <ScheduleDialog schedule={schedule} onClose={close} />}
      {asks === 'fire' && (
        <Confirm
          title="Fire now"
          action="Fire"
          call={{ id: 'fireSchedule', input: { id } }}
          onConfirm={() =>
            fire.mutate(
              { id },
              { onSuccess: ({ runId, eventId }) => toast(`Fired: ${runId ?? eventId}`), onError: toastError },
            )
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
          onConfirm={() => change.mutate({ id }, { onError: toastError })}
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

/** Asks before the API schedule with this id is deleted. */
export function DeleteSchedule({ id, onClose }: { id: string; onClose(): void }) {
  const remove = useWrite('deleteSchedule', ['listSchedules'])
  const input = { id }
  return (
    <Confirm
      title={`Delete ${id}`}
      action="Delete"
      isDanger
      call={{ id: 'deleteSchedule', input }}
      onConfirm={() => remove.mutate(input, { onError: toastError })}
      onClose={onClose}
    >
      It does not fire again. Runs already started continue, and its past events stay.
    </Confirm>
  )
}
