// The overview: runs over time, the sentences about problems, the workflows that fail or slow down, runs in flight, and the next
// schedules. An empty list of sentences is the goal.

import type { Calls } from '@perdure/client'
import { useMemo, useState } from 'react'
import { itemsOf, renew, usePages, useRead } from '../../data/queries.ts'
import { engineNow, useNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { useUtc } from '../../data/time/zone.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { RunChart } from '../../ui/chart/run-chart.tsx'
import { seriesWindow, type TimeWindow, windowOf, zoomedOut } from '../../ui/chart/series-window.ts'
import { ZoomActions } from '../../ui/chart/zoom.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import RangePicker from '../../ui/range/range-picker.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty } from '../../ui/states/empty.tsx'
import { WINDOWS } from '../../ui/states/filter-fields.ts'
import { FirstRun } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { isMoment } from '../../ui/time.ts'
import { NeedsAttention, SOONEST } from './needs-attention.tsx'
import css from './overview.module.css'
import { nextFires } from './upcoming.ts'
import { Workflows } from './workflows.tsx'

const DEFAULT_WINDOW = '24h'
const SHOWN = 5
/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 10_000

export default function OverviewPage() {
  const [get, set] = useQuery('overview')
  const since = get('since') ?? DEFAULT_WINDOW
  const until = momentOf(useTime(get('until')))
  const from = useWindow(since)
  return (
    <Page
      title="Overview"
      actions={
        <>
          {WINDOWS.map(window => (
            <Button
              key={window}
              kind="bare"
              aria-pressed={window === since}
              onClick={() => set({ since: window, until: undefined })}
            >
              {window}
            </Button>
          ))}
          <RangePicker showsSince={!(WINDOWS as readonly string[]).includes(since)} />
        </>
      }
    >
      <Series from={from} until={until} onWindow={set} />
      <div className={css.sides}>
        <NeedsAttention window={{ since, until }} from={from} />
        <InFlight isPinned={until !== undefined} />
        <Workflows window={{ since, until }} from={from} />
        <Upcoming isPinned={until !== undefined} />
      </div>
    </Page>
  )
}

/** Returns a text of the URL if it is a time. */
const momentOf = (text: string | undefined) => (text !== undefined && isMoment(Date.parse(text)) ? text : undefined)

/** Returns the beginning of the window, which moves with the time: everything read since the beginning is read again with it. */
function useWindow(since: string): string | undefined {
  const [nowMs, setNowMs] = useState(engineNow)
  useRenewal(
    () => {
      setNowMs(engineNow())
      return renew('getRunFacets', 'listRunners', 'listLimits', 'listSchedules', 'listEngines', 'listWorkflows')
    },
    { afterMs: RENEWAL_MS },
  )
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: days begin at other times in the other zone.
  return useMemo(() => sinceParam(since, nowMs), [since, nowMs, isUtc])
}

interface SeriesProps {
  from: string | undefined
  until: string | undefined
  onWindow(window: TimeWindow): void
}

function Series({ from, until, onWindow }: SeriesProps) {
  const navigate = useNavigate()
  const now = useNow()
  const series = useRead('getRunSeries', seriesWindow(from, until, now))
  const zoomOut = () => onWindow(zoomedOut({ from, until }, now))
  return (
    <Panel
      title="Runs"
      actions={<ZoomActions isZoomed={until !== undefined} onZoomOut={zoomOut} runs={{ since: from, until }} />}
    >
      <Loaded query={series} rows={4}>
        {points =>
          points.every(
            ({ started, succeeded, failed, cancelled }) => started + succeeded + failed + cancelled === 0,
          ) ? (
            <NoRuns isPinned={until !== undefined} />
          ) : (
            <RunChart
              label="Runs over time"
              points={points}
              nowMs={now}
              onChoose={(fromMs, toMs) => navigate({ to: 'runs', query: windowOf(fromMs, toMs) })}
              onZoom={(fromMs, toMs) => onWindow(windowOf(fromMs, toMs))}
              onZoomOut={zoomOut}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}

/** `isPinned`: a past window, in which no command can create a run. */
function NoRuns({ isPinned }: { isPinned: boolean }) {
  return (
    <Empty title="No runs in this window">
      {!isPinned && (
        <>
          <p>These commands create one: a project with a runner, and an event that starts its workflow.</p>
          <FirstRun />
        </>
      )}
    </Empty>
  )
}

/** `isPinned`: the page shows the past, and nobody knows what was in flight then. */
function InFlight({ isPinned }: { isPinned: boolean }) {
  const facets = useRead('getRunFacets', {})
  return (
    <Panel title={isPinned ? 'In flight now' : 'In flight'}>
      <Loaded query={facets} rows={2}>
        {({ status, waits }) => (
          <ul className={`plain-list ${css.list}`}>
            <InState status="queued" runs={status.queued} />
            <Kinds of={waits} status="queued" />
            {/* The filter `running` also finds runs that wait. */}
            <InState status="running" word="active" runs={Number(status.running ?? 0) + Number(status.waiting ?? 0)} />
            <li className={css.inner}>
              <Link target={{ to: 'runs', query: { status: 'waiting' } }}>
                <Status status="waiting" /> {status.waiting ?? 0}
              </Link>
            </li>
            <Kinds of={waits} status="waiting" isInmost />
            <InState status="paused" runs={status.paused} />
            <Kinds of={waits} status="paused" />
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

/** A link to the runs of a status, with their count. */
function InState({ status, word, runs = 0 }: { status: string; word?: string; runs?: unknown }) {
  return (
    <li>
      <Link target={{ to: 'runs', query: { status } }}>
        <Status status={status} {...(word && { word })} /> {String(runs)}
      </Link>
    </li>
  )
}

type Wait = Calls['getRunFacets']['reply']['waits'][number]

/** The waits of the runs of a status, by kind: in total not more than these runs. */
function Kinds({ of, status, isInmost }: { of: readonly Wait[]; status: string; isInmost?: boolean }) {
  return of
    .filter(each => each.status === status)
    .map(({ waitingFor: waiting, runs }) => (
      <li key={waiting} className={isInmost ? css.inmost : css.inner}>
        <Link target={{ to: 'runs', query: { status, waiting } }}>
          {String(runs)}{' '}
          {waiting === 'failure' ? 'after a failure' : waiting === 'budget' ? 'over budget' : `for ${waiting}`}
        </Link>
      </li>
    ))
}

function Upcoming({ isPinned }: { isPinned: boolean }) {
  const query = usePages('listSchedules', SOONEST)
  return (
    <Panel title={isPinned ? 'Next schedules, from now' : 'Next schedules'}>
      <Loaded query={query} rows={2}>
        {() => {
          const next = nextFires(itemsOf(query), SHOWN)
          if (next.length === 0) return <p className="mute">No upcoming schedules.</p>
          return (
            <ul className={`plain-list ${css.list}`}>
              {next.map(({ id, name, at }) => (
                <li key={id}>
                  <Moment at={at} /> <Link target={{ to: 'schedules' }}>{name}</Link>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Panel>
  )
}
