// The cells of the table of schedules.

import { type Item, itemsOf, usePages } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { RunSpark } from '../../ui/chart/run-spark.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import { localTime } from '../../ui/time.ts'
import { cronWords } from './cron-words.ts'
import css from './schedules.module.css'
import { causeWords, countWords } from './words.ts'

export type Schedule = Item<'listSchedules'>

/** Number of past runs drawn. */
const PAST_RUNS = 16
const PAST_STALE_MS = 60_000

export function Starts({ schedule: { id, workflow, app, event } }: { schedule: Schedule }) {
  if (workflow === undefined || app === undefined)
    return (
      <span title={id}>
        {id} <span className="mute">sends {event?.name}</span>
      </span>
    )
  return (
    <>
      <Link target={{ to: 'workflow', params: { app, name: workflow } }} title={id}>
        {workflow}
      </Link>{' '}
      <span className="mute">{app}</span>
    </>
  )
}

export function When({ schedule: { cron, every, timezone } }: { schedule: Schedule }) {
  if (cron === undefined) return `every ${durationText(every ?? 0)}`
  const words = cronWords(cron)
  return (
    <span title={cron}>
      {words ?? <code>{cron.replace(/^TZ=\S+\s+/, '')}</code>} <span className="mute">{timezone}</span>
    </span>
  )
}

export function Next({ schedule: { paused, next, lateMs } }: { schedule: Schedule }) {
  if (paused) return <Status status="paused" />
  if (lateMs !== undefined) return <span className={css.late}>{durationText(lateMs)} late</span>
  if (next[0] === undefined) return <span className="mute">has ended</span>
  return (
    <span title={next.map(at => localTime(Date.parse(at))).join('\n')}>
      <Moment at={next[0]} />
    </span>
  )
}

export function Last({ schedule }: { schedule: Schedule }) {
  const { lastAt, missed } = schedule
  return (
    <>
      {lastAt !== undefined && <Fired schedule={schedule} at={lastAt} />}{' '}
      {missed && (
        <span className={css.late} title={missedLines(missed)}>
          missed <Moment at={missed.until} />
        </span>
      )}
    </>
  )
}

/** Lists the instants that did not fire, in this browser's zone. */
function missedWords(gap: Omit<NonNullable<Schedule['missed']>, 'earlier'>): string {
  const { from, until } = gap
  const [first, last] = [from, until].map(at => localTime(Date.parse(at)))
  const when = first === last ? first : `${first} to ${last}`
  const which = first === last ? '' : `, ${countWords(gap)}`
  return `${when} did not fire${which}${causeWords(gap)}`
}

/** Returns the last gap, and the earlier ones, one line each. */
export function missedLines({ earlier = [], ...last }: NonNullable<Schedule['missed']>): string {
  return [last, ...earlier].map(missedWords).join('\n')
}

function Fired({ schedule: { lastRunId, lastStatus, lastEventId }, at }: { schedule: Schedule; at: string }) {
  return (
    <>
      {lastStatus && <Status status={lastStatus} />}{' '}
      {lastRunId !== undefined ? (
        <Link target={{ to: 'run', params: { id: lastRunId } }}>
          <Moment at={at} />
        </Link>
      ) : lastEventId !== undefined ? (
        <Link target={{ to: 'event', params: { id: lastEventId } }}>
          <Moment at={at} />
        </Link>
      ) : (
        <Moment at={at} />
      )}
    </>
  )
}

/** The newest runs that the workflow's crons started. Only rows on the screen are rendered, so only their runs are read. */
export function Past({ schedule: { app, workflow } }: { schedule: Schedule }) {
  const isOfWorkflow = app !== undefined && workflow !== undefined
  const query = usePages(
    'listRuns',
    { app, workflow, runType: 'cron', limit: PAST_RUNS, partial: true },
    { enabled: isOfWorkflow, staleMs: PAST_STALE_MS, keep: false },
  )
  const runs = itemsOf(query).slice(0, PAST_RUNS)
  return isOfWorkflow && runs.length > 0 ? <RunSpark runs={runs} slots={PAST_RUNS} /> : null
}
