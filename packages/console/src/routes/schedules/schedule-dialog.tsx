// The dialog that creates or edits an API schedule. While it is filled in, the engine answers when the schedule would fire, and
// which field it would refuse. A schedule that a workflow declares cannot be edited here: the dialog says where to edit it.

import { useId, useState } from 'react'
import { useRead } from '../../data/queries.ts'
import { zoneName } from '../../data/time/zone.ts'
import { useWrite } from '../../data/write.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { FieldForm } from '../../ui/fields/fields.tsx'
import { useJsonFault } from '../../ui/json/use-json-text.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Snippet } from '../../ui/states/empty.tsx'
import { localTime } from '../../ui/time.ts'
import type { Schedule } from './cells.tsx'
import { type Draft, draftOf, newDraft, previewOf, putOf } from './draft.ts'
import { Inputs } from './inputs.tsx'
import css from './schedules.module.css'
import { usePreview } from './use-preview.ts'

const NAMES = ['id', 'cron', 'timezone', 'every', 'event.name', 'event.app', 'startsAt', 'endsAt']
const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

export interface ScheduleDialogProps {
  /** The schedule to edit; absent: a new one. */
  schedule?: Schedule | undefined
  onClose(): void
}

export function ScheduleDialog({ schedule, onClose }: ScheduleDialogProps) {
  if (schedule?.source === 'workflow') return <DeclaredInCode schedule={schedule} onClose={onClose} />
  return <ScheduleForm schedule={schedule} onClose={onClose} />
}

function ScheduleForm({ schedule, onClose }: ScheduleDialogProps) {
  const form = useId()
  const isNew = schedule === undefined
  const [draft, setDraft] = useState<Draft>(() => (schedule ? draftOf(schedule) : newDraft(browserZone())))
  const [tried, setTried] = useState<Draft>()
  const put = useWrite('putSchedule', ['listSchedules'])
  const fault = useJsonFault(draft.data || 'null')
  const preview = usePreview(fault === undefined ? previewOf(draft, isNew) : undefined)
  const workflows = useRead('listWorkflows', {}, { staleMs: 30_000 }).data ?? []
  const input = putOf(draft, isNew)
  const notSaved = whyNotSaved(draft, fault)
  const save = () => {
    setTried(draft)
    put.mutate(input, {
      onSuccess: ({ id }) => {
        toast(isNew ? `Schedule ${id} created` : `Schedule ${id} saved`)
        onClose()
      },
    })
  }
  const names = workflows.flatMap(({ triggers }) => triggers.flatMap(({ event }) => event ?? []))
  return (
    <Dialog
      title={isNew ? 'New schedule' : `Edit ${schedule.id}`}
      onClose={onClose}
      isWide
      call={notSaved === undefined ? { id: 'putSchedule', input } : undefined}
      close="Cancel"
      actions={
        <WriteButton kind="primary" type="submit" form={form} disabledBecause={notSaved}>
          {isNew ? 'Create' : 'Save'}
        </WriteButton>
      }
    >
      <div className={css.sides}>
        <FieldForm
          id={form}
          error={tried === draft ? put.error : null}
          fault={preview.error}
          names={NAMES}
          onSubmit={() => notSaved === undefined && save()}
        >
          {errorOf => (
            <Inputs
              draft={draft}
              isNew={isNew}
              eventNames={[...new Set(names)].sort()}
              dataFault={draft.data === '' ? undefined : fault}
              errorOf={errorOf}
              onChange={change => setDraft(before => ({ ...before, ...change }))}
            />
          )}
        </FieldForm>
        <section aria-label="Next runs">
          <h3>Next runs ({zoneName()})</h3>
          <NextRuns entry={preview.entry} hasFault={preview.error !== null} />
        </section>
      </div>
    </Dialog>
  )
}

function whyNotSaved({ id, name }: Draft, fault: string | undefined): string | undefined {
  if (id === '') return 'enter an ID'
  if (name === '') return 'enter the name of the event'
  return fault && 'the data is not JSON'
}

/** The instants at which the engine would fire. */
function NextRuns({ entry, hasFault }: { entry: Schedule | undefined; hasFault: boolean }) {
  if (!entry) return <p className="mute">{hasFault ? 'None: see the error at its field' : 'Checking…'}</p>
  if (entry.paused) return <p>None: the schedule is paused, and stays paused.</p>
  const times = entry.next.map(at => localTime(Date.parse(at)).slice(0, 19))
  return (
    <>
      <Polite text={`Next run ${times[0]}`}>{times[0]}</Polite>
      <ol className="plain-list">
        {times.slice(1).map(time => (
          <li key={time}>{time}</li>
        ))}
      </ol>
    </>
  )
}

function DeclaredInCode({ schedule: { workflow, cron }, onClose }: { schedule: Schedule; onClose(): void }) {
  return (
    <Dialog title="Declared in code" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <p>
        The workflow {workflow} declares this schedule in its triggers. To change it, change the trigger and deploy the
        runner. Here you can pause, resume and fire it.
      </p>
      <Snippet text={`triggers: [{ cron: '${cron}' }]`} />
    </Dialog>
  )
}
