// Schedules: the crons of workflows and the schedules of the API, with their next instants.

import { useState } from 'react'
import { type Item, itemsOf, usePages, useWrite } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { localTime } from '../../ui/time.ts'
import { shortName } from '../../ui/visible-text.ts'
import { cronWords } from './cron-words.ts'
import css from './schedules.module.css'

type Schedule = Item<'listSchedules'>

const COLUMNS: readonly Column<Schedule>[] = [
  { id: 'starts', header: 'Starts', render: schedule => <Starts schedule={schedule} /> },
  { id: 'when', header: 'When', render: schedule => <When schedule={schedule} /> },
  { id: 'next', header: 'Next', width: '150px', render: schedule => <Next schedule={schedule} /> },
  { id: 'last', header: 'Last', width: '170px', isSecondary: true, render: schedule => <Last schedule={schedule} /> },
  { id: 'acts', header: 'Actions', width: '218px', render: schedule => <Actions schedule={schedule} /> },
]

export default function SchedulesPage() {
  const [get, set] = useQuery('schedules')
  const query = usePages('listSchedules', { limit: 100 })
  const [app, workflow] = [get('app'), get('workflow')]
  const all = itemsOf(query)
  const filters = (['app', 'workflow'] as const).flatMap(name => {
    const value = get(name)
    return value === undefined ? [] : [{ label: `${name}:${value}`, drop: () => set({ [name]: undefined }) }]
  })
  const known = (name: 'app' | 'workflow') => [...new Set(all.flatMap(schedule => schedule[name] ?? []))].sort()
  const isShown = (schedule: Schedule) =>
    (app === undefined || schedule.app === app) && (workflow === undefined || schedule.workflow === workflow)
  return (
    <Page title="Schedules">
      <FilterBar
        label="Filter schedules"
        fields={[
          {
            name: 'workflow',
            label: 'Workflow',
            value: workflow,
            known: known('workflow'),
            onChange: workflow => set({ workflow }),
          },
          { name: 'app', label: 'App', value: app, known: known('app'), onChange: app => set({ app }) },
        ]}
      />
      <Panel isFlush>
        <PagedTable
          label="Schedules"
          query={query}
          rowsOf={page => page.items.filter(isShown)}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          filters={filters}
          what="schedules"
          empty={<NoSchedules />}
        />
      </Panel>
    </Page>
  )
}

/** The next instants, in the time of this browser. */
function lookAt({ id, workflow, cron, timezone, next, event }: Schedule): Look {
  return {
    head: <b>{shortName(workflow ?? id)}</b>,
    body: (
      <>
        <PeekPart name="Cron" text={cron && [cron, timezone].filter(Boolean).join(' ')} />
        <PeekPart name="Event" text={event?.name} />
        <PeekPart name="Next, in your time" text={next.map(at => localTime(Date.parse(at))).join('\n')} />
      </>
    ),
  }
}

function NoSchedules() {
  return (
    <Empty title="No schedule yet">
      <p>
        A workflow with a cron trigger has one as soon as its runner registers. A program or a person can make more.
      </p>
      <Snippet text={"triggers: [{ cron: 'TZ=Europe/Berlin 0 9 * * 1-5' }]"} />
      <Snippet text="perdure schedules put weekly-report report/weekly --cron '0 9 * * 1'" />
    </Empty>
  )
}

function Starts({ schedule: { id, workflow, app, event } }: { schedule: Schedule }) {
  if (workflow === undefined || app === undefined)
    return (
      <span title={id}>
        {id} <span className={css.mute}>sends {event?.name}</span>
      </span>
    )
  return (
    <>
      <Link target={{ to: 'workflow', params: { app, name: workflow } }} title={id}>
        {workflow}
      </Link>{' '}
      <span className={css.mute}>{app}</span>
    </>
  )
}

function When({ schedule: { cron, every, timezone } }: { schedule: Schedule }) {
  if (cron === undefined) return `every ${durationText(every ?? 0)}`
  const words = cronWords(cron)
  return (
    <span title={cron}>
      {words ?? <code>{cron}</code>} <span className={css.mute}>{timezone}</span>
    </span>
  )
}

function Next({ schedule: { paused, next, lateMs } }: { schedule: Schedule }) {
  if (paused) return <Status status="paused" />
  if (lateMs !== undefined) return <span className={css.late}>{durationText(lateMs)} late</span>
  if (next[0] === undefined) return <span className={css.mute}>has ended</span>
  return (
    <span title={next.map(at => localTime(Date.parse(at))).join('\n')}>
      <Moment at={next[0]} />
    </span>
  )
}

function Last({ schedule: { lastAt, lastRunId, lastStatus, lastEventId } }: { schedule: Schedule }) {
  if (lastAt === undefined) return null
  return (
    <>
      {lastStatus && <Status status={lastStatus} />}{' '}
      {lastRunId !== undefined ? (
        <Link target={{ to: 'run', params: { id: lastRunId } }}>
          <Moment at={lastAt} />
        </Link>
      ) : lastEventId !== undefined ? (
        <Link target={{ to: 'event', params: { id: lastEventId } }}>
          <Moment at={lastAt} />
        </Link>
      ) : (
        <Moment at={lastAt} />
      )}
    </>
  )
}

function Actions({ schedule: { id, paused, workflow, event } }: { schedule: Schedule }) {
  const [asks, setAsks] = useState<'fire' | 'change'>()
  const fire = useWrite('fireSchedule', ['listSchedules'])
  const changing = paused ? 'resumeSchedule' : 'pauseSchedule'
  const change = useWrite(changing, ['listSchedules'])
  const now = useNow()
  const close = () => setAsks(undefined)
  const onError = (error: Error) => toast(error.message, { isError: true })
  return (
    <span className={css.actions}>
      <WriteButton onClick={() => setAsks('fire')}>Fire now…</WriteButton>
      <WriteButton onClick={() => setAsks('change')}>{paused ? 'Resume…' : 'Pause…'}</WriteButton>
      {asks === 'fire' && (
        <Confirm
          title="Fire now"
          action="Fire"
          keep="Do not fire"
          call={{ id: 'fireSchedule', input: { id } }}
          onConfirm={() =>
            fire.mutate({ id }, { onSuccess: ({ runId, eventId }) => toast(`Fired: ${runId ?? eventId}`), onError })
          }
          onClose={close}
        >
          {workflow === undefined
            ? `The event ${event?.name} arrives now, at ${localTime(now)}.`
            : `A run of ${workflow} starts now, at ${localTime(now)}.`}{' '}
          The next instants stay as they are.
        </Confirm>
      )}
      {asks === 'change' && (
        <Confirm
          title={paused ? 'Resume the schedule' : 'Pause the schedule'}
          action={paused ? 'Resume' : 'Pause'}
          keep={paused ? 'Keep it paused' : 'Keep it going'}
          call={{ id: changing, input: { id } }}
          onConfirm={() => change.mutate({ id }, { onError })}
          onClose={close}
        >
          {paused
            ? 'It fires again from its next instant on. Instants that passed meanwhile are not made up for.'
            : 'It does not fire until it is resumed. Runs that it has started go on.'}
        </Confirm>
      )}
    </span>
  )
}
