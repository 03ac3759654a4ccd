// Schedules: the crons of workflows and the schedules of the API, with their next instants.

import { useState } from 'react'
import { type Item, itemsOf, usePages, useWrite } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { localTime } from '../../ui/time.ts'
import { cronWords } from './cron-words.ts'
import css from './schedules.module.css'

type Schedule = Item<'listSchedules'>

const COLUMNS: readonly Column<Schedule>[] = [
  { id: 'starts', header: 'Starts', render: schedule => <Starts schedule={schedule} /> },
  { id: 'when', header: 'When', render: schedule => <When schedule={schedule} /> },
  { id: 'next', header: 'Next', width: '150px', render: schedule => <Next schedule={schedule} /> },
  { id: 'last', header: 'Last', width: '190px', isSecondary: true, render: schedule => <Last schedule={schedule} /> },
  { id: 'acts', header: 'Actions', width: '190px', render: schedule => <Actions schedule={schedule} /> },
]

export default function SchedulesPage() {
  const query = usePages('listSchedules', { limit: 100 })
  const schedules = itemsOf(query)
  return (
    <Page title="Schedules">
      <Panel isFlush>
        <Loaded query={query}>
          {() =>
            schedules.length === 0 ? (
              <NoSchedules />
            ) : (
              <DataTable
                label="Schedules"
                columns={COLUMNS}
                rows={schedules}
                keyOf={({ id }) => id}
                hasMore={query.hasNextPage}
                isLoadingMore={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
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

function Actions({ schedule }: { schedule: Schedule }) {
  const { id, paused, workflow, event } = schedule
  const [isFiring, setFiring] = useState(false)
  const change = useWrite(paused ? 'resumeSchedule' : 'pauseSchedule', ['listSchedules'])
  const fire = useWrite('fireSchedule', ['listSchedules'])
  const now = useNow()
  const fireNow = () =>
    fire.mutate(
      { id },
      {
        onSuccess: ({ runId, eventId }) => toast(`Fired: ${runId ?? eventId}`),
        onError: error => toast(error.message, { isError: true }),
      },
    )
  return (
    <span className={css.actions}>
      <WriteButton onClick={() => setFiring(true)}>Fire now…</WriteButton>
      <WriteButton onClick={() => change.mutate({ id }, { onError: error => toast(error.message, { isError: true }) })}>
        {paused ? 'Resume' : 'Pause'}
      </WriteButton>
      {isFiring && (
        <Confirm title="Fire now" action="Fire" keep="Do not fire" onConfirm={fireNow} onClose={() => setFiring(false)}>
          {workflow === undefined
            ? `The event ${event?.name} arrives now, at ${localTime(now)}.`
            : `A run of ${workflow} starts now, at ${localTime(now)}.`}{' '}
          The next instants stay as they are.
        </Confirm>
      )}
    </span>
  )
}
