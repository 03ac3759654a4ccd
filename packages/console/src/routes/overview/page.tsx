// The overview: runs over time, the sentences about what needs a look, the workflows that fail or slow down, what is in flight,
// and the next schedules. An empty list of sentences is the goal.

import type { Calls } from '@perdure/client'
import { type ReactNode, useMemo } from 'react'
import { type Item, itemsOf, usePages, useRead } from '../../data/queries.ts'
import { engineNow, useNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { RunChart } from '../../ui/chart/run-chart.tsx'
import { seriesStep } from '../../ui/chart/series-step.ts'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { successText } from '../workflows/stats.ts'
import css from './overview.module.css'

const WINDOWS = ['1h', '24h', '7d', '30d'] as const
const DEFAULT_WINDOW = '24h'
const SHOWN = 5
const LATE_MS = 60_000

export default function OverviewPage() {
  const [get, set] = useQuery('overview')
  const since = get('since') ?? DEFAULT_WINDOW
  // A relative window begins anew only when the URL changes.
  const from = useMemo(() => sinceParam(since, engineNow()), [since])
  return (
    <Page
      title="Overview"
      actions={WINDOWS.map(window => (
        <Button key={window} kind="bare" aria-pressed={window === since} onClick={() => set({ since: window })}>
          {window}
        </Button>
      ))}
    >
      <Series since={since} from={from} />
      <div className={css.sides}>
        <NeedsALook from={from} />
        <InFlight />
        <Workflows from={from} />
        <Upcoming />
      </div>
    </Page>
  )
}

function Series({ since, from }: { since: string; from: string | undefined }) {
  const navigate = useNavigate()
  const now = useNow()
  const series = useRead('getRunSeries', { since: from, step: seriesStep(since) })
  const choose = (fromMs: number, toMs: number) =>
    navigate({ to: 'runs', query: { since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() } })
  return (
    <Panel title="Runs">
      <Loaded query={series} rows={4}>
        {points =>
          points.every(
            ({ started, succeeded, failed, cancelled }) => started + succeeded + failed + cancelled === 0,
          ) ? (
            <FirstRun />
          ) : (
            <RunChart label="Runs over time" points={points} nowMs={now} onChoose={choose} />
          )
        }
      </Loaded>
    </Panel>
  )
}

function FirstRun() {
  return (
    <Empty title="No run in this window">
      <p>These lines make one: a project with a runner, and an event that starts its workflow.</p>
      <Snippet text={`npm create perdure@latest my-app\ncd my-app && ENGINE_URL=${ENGINE_URL} npm run worker`} />
      <Snippet
        text={`curl ${ENGINE_URL}/events -H 'content-type: application/json' \\\n  -d '{"name": "user.signed-up", "data": {"name": "Ada"}}'`}
      />
    </Empty>
  )
}

interface Look {
  key: string
  sentence: ReactNode
}

/** Everything that is not as it should be, each a sentence with a link. */
function NeedsALook({ from }: { from: string | undefined }) {
  const errors = useRead('listErrors', { since: from })
  const runners = useRead('listRunners', {})
  const exhausted = usePages('listWebhookDeliveries', { status: 'exhausted', since: from, limit: 100 })
  const schedules = usePages('listSchedules', { limit: 200 })
  const stats = useRead('getWorkflowStats', { since: from, limit: 200 })
  const looks: Look[] = [
    ...errorLooks(errors.data ?? [], from),
    ...heldLooks(stats.data ?? []),
    ...runnerLooks(runners.data ?? []),
    ...deliveryLooks(itemsOf(exhausted).length, exhausted.hasNextPage),
    ...scheduleLooks(itemsOf(schedules)),
  ]
  return (
    <Panel title="Needs a look">
      <Loaded query={errors} rows={2}>
        {() =>
          looks.length === 0 ? (
            <p className={css.mute}>Nothing. No run failed, no runner is silent, nothing is late.</p>
          ) : (
            <ul className={`${css.list} ${css.sentences}`}>
              {looks.map(({ key, sentence }) => (
                <li key={key}>{sentence}</li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

function errorLooks(groups: readonly Calls['listErrors']['reply'][number][], from: string | undefined): Look[] {
  if (groups.length === 0) return []
  const fresh = from === undefined ? [] : groups.filter(({ firstAt }) => firstAt >= from)
  const runs = groups.reduce((sum, { count }) => sum + count, 0)
  return [
    {
      key: 'errors',
      sentence: (
        <>
          <Link target={{ to: 'errors' }}>
            {runs} {runs === 1 ? 'run' : 'runs'} failed in {groups.length} {groups.length === 1 ? 'group' : 'groups'}
          </Link>
          {fresh.length > 0 && `, ${fresh.length} of them new`}
        </>
      ),
    },
    ...groups.slice(0, 3).map(({ fingerprint, count, workflow, message }) => ({
      key: fingerprint,
      sentence: (
        <>
          <Status status="failed" word={String(count)} />{' '}
          <Link target={{ to: 'errorGroup', params: { fingerprint } }} title={message}>
            {message.slice(0, 100)}
          </Link>{' '}
          <span className={css.mute}>{workflow}</span>
        </>
      ),
    })),
  ]
}

function heldLooks(stats: readonly Calls['getWorkflowStats']['reply'][number][]): Look[] {
  return stats
    .filter(({ held }) => held > 0)
    .sort((a, b) => b.held - a.held)
    .slice(0, 3)
    .map(({ app, workflow, held }) => ({
      key: `held ${app}/${workflow}`,
      sentence: (
        <>
          <Link target={{ to: 'runs', query: { app, workflow, status: 'queued' } }}>
            {held} {held === 1 ? 'run' : 'runs'} of {workflow}
          </Link>{' '}
          {held === 1 ? 'is' : 'are'} held back by a limit or for want of a runner
        </>
      ),
    }))
}

function runnerLooks(runners: readonly Calls['listRunners']['reply'][number][]): Look[] {
  return runners
    .filter(({ live }) => !live)
    .slice(0, 3)
    .map(({ app, runnerId, lastSeenAt }) => ({
      key: `runner ${app}/${runnerId}`,
      sentence: (
        <>
          Runner <Link target={{ to: 'runners', query: { app } }}>{runnerId}</Link> is silent, last seen{' '}
          <Moment at={lastSeenAt} />
        </>
      ),
    }))
}

function deliveryLooks(count: number, isMore: boolean): Look[] {
  if (count === 0) return []
  return [
    {
      key: 'deliveries',
      sentence: (
        <Link target={{ to: 'deliveries', query: { status: 'exhausted' } }}>
          {count}
          {isMore ? ' or more' : ''} {count === 1 ? 'delivery has' : 'deliveries have'} spent all attempts
        </Link>
      ),
    },
  ]
}

function scheduleLooks(schedules: readonly Item<'listSchedules'>[]): Look[] {
  return schedules.flatMap(({ id, workflow, lateMs }) =>
    lateMs === undefined || lateMs < LATE_MS
      ? []
      : [
          {
            key: `schedule ${id}`,
            sentence: (
              <>
                Schedule <Link target={{ to: 'schedules' }}>{workflow ?? id}</Link> is {durationText(lateMs)} late
              </>
            ),
          },
        ],
  )
}

const IN_FLIGHT = ['queued', 'running', 'waiting', 'paused'] as const

function InFlight() {
  const facets = useRead('getRunFacets', {})
  return (
    <Panel title="In flight">
      <Loaded query={facets} rows={2}>
        {({ status, waitingFor }) => (
          <ul className={css.list}>
            {IN_FLIGHT.map(each => (
              <li key={each}>
                <Link target={{ to: 'runs', query: { status: each } }}>
                  <Status status={each} /> {status[each] ?? 0}
                </Link>
              </li>
            ))}
            {Object.entries(waitingFor)
              .filter(([, runs]) => Number(runs) > 0)
              .map(([kind, runs]) => (
                <li key={`for ${kind}`} className={css.inner}>
                  <Link target={{ to: 'runs', query: { waiting: kind } }}>
                    {String(runs)} for {kind}
                  </Link>
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

function Workflows({ from }: { from: string | undefined }) {
  const stats = useRead('getWorkflowStats', { since: from, limit: 200 })
  return (
    <Panel title="Workflows by failures, then by duration">
      <Loaded query={stats} rows={3}>
        {rows => (
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                <th scope="col">Runs</th>
                <th scope="col">Success</th>
                <th scope="col">p95</th>
              </tr>
            </thead>
            <tbody>
              {[...rows]
                .sort((a, b) => b.failed - a.failed || (b.p95Ms ?? 0) - (a.p95Ms ?? 0))
                .slice(0, SHOWN)
                .map(row => (
                  <tr key={`${row.app}/${row.workflow}`}>
                    <td>
                      <Link target={{ to: 'workflow', params: { app: row.app, name: row.workflow } }}>
                        {row.workflow}
                      </Link>
                    </td>
                    <td>{row.started}</td>
                    <td>{successText(row)}</td>
                    <td>{row.p95Ms === undefined ? '' : durationText(row.p95Ms)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Panel>
  )
}

function Upcoming() {
  const query = usePages('listSchedules', { limit: 200 })
  return (
    <Panel title="Next schedules">
      <Loaded query={query} rows={2}>
        {() => {
          const next = itemsOf(query)
            .flatMap(({ id, workflow, event, next }) =>
              next[0] === undefined ? [] : [{ id, name: workflow ?? event?.name ?? id, at: next[0] }],
            )
            .sort((a, b) => (a.at < b.at ? -1 : 1))
            .slice(0, SHOWN)
          if (next.length === 0) return <p className={css.mute}>No schedule fires.</p>
          return (
            <ul className={`${css.list} ${css.sentences}`}>
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
