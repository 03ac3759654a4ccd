// The overview: runs over time, the sentences about what needs a look, the workflows that fail or slow down, what is in flight,
// and the next schedules. An empty list of sentences is the goal.

import { useMemo } from 'react'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
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
import {
  deliveryLooks,
  errorLooks,
  heldLooks,
  type Look,
  laneLooks,
  limitLooks,
  runnerLooks,
  scheduleLooks,
} from './looks.tsx'
import css from './overview.module.css'

const WINDOWS = ['1h', '24h', '7d', '30d'] as const
const DEFAULT_WINDOW = '24h'
const SHOWN = 5

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

/** Everything that is not as it should be, each a sentence with a link. */
function NeedsALook({ from }: { from: string | undefined }) {
  const errors = useRead('listErrors', { since: from })
  const runners = useRead('listRunners', {})
  const exhausted = usePages('listWebhookDeliveries', { status: 'exhausted', since: from, limit: 100 })
  const schedules = usePages('listSchedules', { limit: 200 })
  const stats = useRead('getWorkflowStats', { since: from, limit: 200 })
  const limits = useRead('listLimits', {})
  const engines = useRead('listEngines', {})
  const looks: Look[] = [
    ...errorLooks(errors.data ?? [], from),
    ...limitLooks(limits.data ?? []),
    ...heldLooks(stats.data ?? [], limits.data ?? []),
    ...runnerLooks(runners.data ?? []),
    ...deliveryLooks(itemsOf(exhausted), exhausted.hasNextPage),
    ...scheduleLooks(itemsOf(schedules)),
    ...laneLooks(engines.data ?? []),
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
