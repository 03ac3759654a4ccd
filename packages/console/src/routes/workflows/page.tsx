// Workflows: every definition with its triggers in words, and how its runs did in the window of time.

import type { WorkflowDefinition } from '@perdure/protocol'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { countedUntil } from '../../data/time/counted.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { TrendSpark } from '../../ui/chart/trend-spark.tsx'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { type MovingWindowOptions, useMovingWindow } from '../../ui/live-list/use-moving-window.ts'
import { Moment } from '../../ui/moment.tsx'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { untilField } from '../../ui/states/filter-fields.ts'
import { FirstRunner } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { definitionWords, triggerWords } from './definition-words.ts'
import { HELD, IN_FLIGHT, RunsLink } from './runs-link.tsx'
import { keyOf, nextStarts, serversOf } from './served.ts'
import { type Stats, successText } from './stats.ts'
import css from './workflows.module.css'

/** The statistics are read again this long after a run has moved. */
const RENEWAL: MovingWindowOptions = {
  afterMs: 10_000,
  windowed: ['getWorkflowStats'],
  others: ['listWorkflows', 'listSchedules', 'listRunners'],
}

/** The schedules of workflows that fire soonest; those behind them have no instant in the list. */
const SCHEDULES = { source: 'workflow', sort: 'next', limit: 200 } as const

/** Bars of a trend at most: the week has 29 and the month 31. */
const TREND_SPANS = 32

interface Row extends WorkflowDefinition {
  stats: Stats | undefined
  /** When a schedule starts it next. */
  nextAt: string | undefined
  /** The live runners that serve it; undefined until they are known. */
  servers: readonly string[] | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Workflow',
    render: ({ app, name, pausedAt }) => (
      <>
        <Link target={{ to: 'workflow', params: { app, name } }} title={name}>
          {name}
        </Link>{' '}
        {pausedAt !== undefined && <Status status="paused" />}
      </>
    ),
  },
  { id: 'app', header: 'App, runners', width: '118px', render: row => <ServedBy row={row} /> },
  { id: 'triggers', header: 'Triggers', render: row => <Triggers row={row} /> },
  { id: 'runs', header: 'Runs', width: '60px', align: 'end', render: ({ stats }) => stats?.started ?? '' },
  {
    id: 'trend',
    header: 'Trend',
    width: '112px',
    render: ({ stats }) => stats?.trend && <TrendSpark {...stats.trend} />,
  },
  { id: 'success', header: 'Success', width: '78px', align: 'end', render: ({ stats }) => successText(stats) },
  {
    id: 'p50',
    header: 'p50',
    width: '72px',
    align: 'end',
    isSecondary: true,
    render: ({ stats }) => duration(stats?.p50Ms),
  },
  {
    id: 'p95',
    header: 'p95',
    width: '72px',
    align: 'end',
    isSecondary: true,
    render: ({ stats }) => duration(stats?.p95Ms),
  },
  { id: 'flight', header: 'In flight', width: '74px', align: 'end', render: row => <InFlight of={row} /> },
  {
    id: 'held',
    header: 'Queued',
    width: '78px',
    align: 'end',
    render: row => <Held of={row} />,
  },
  {
    id: 'failure',
    header: 'Last failure',
    width: '104px',
    align: 'end',
    render: ({ stats }) =>
      stats?.lastFailure && (
        <Link target={{ to: 'run', params: { id: stats.lastFailure.runId } }} title={stats.lastFailure.message}>
          <Moment at={stats.lastFailure.at} />
        </Link>
      ),
  },
]

type Counted = Pick<Row, 'app' | 'name' | 'stats'>

function InFlight({ of: { app, name, stats } }: { of: Counted }) {
  return stats ? <RunsLink of={{ app, name }} status={IN_FLIGHT} count={stats.inFlight} what="in flight" /> : null
}

function Held({ of: { app, name, stats } }: { of: Counted }) {
  return stats ? <RunsLink of={{ app, name }} status={HELD} count={stats.held} what="queued by limits" /> : null
}

const duration = (ms: number | undefined) => (ms === undefined ? '' : durationText(ms))

export default function WorkflowsPage() {
  const [get, set] = useQuery('workflows')
  const navigate = useNavigate()
  const [app, q, since = '24h'] = [get('app'), get('q'), get('since')]
  const definitions = useRead('listWorkflows', { app })
  const until = get('until')
  const from = useMovingWindow(since, RENEWAL)
  const stats =
    useRead('getWorkflowStats', { app, since: from, until: countedUntil(until), limit: 200, trend: TREND_SPANS })
      .data ?? []
  const nextAt = nextStarts(itemsOf(usePages('listSchedules', SCHEDULES)))
  const runners = useRead('listRunners', { app }).data
  const servers = runners && serversOf(runners)
  const statsOf = new Map(stats.map(each => [`${each.app}\n${each.workflow}`, each]))
  const apps = useRead('listApps', {}).data?.map(({ name }) => name) ?? []
  const filters = (['app', 'q'] as const).flatMap(name => {
    const value = get(name)
    return value === undefined ? [] : [{ label: `${name}:${value}`, drop: () => set({ [name]: undefined }) }]
  })
  return (
    <Page title="Workflows">
      <FilterBar
        label="Filter workflows"
        fields={[
          { name: 'q', label: 'Name', value: q, onChange: q => set({ q }) },
          { name: 'app', label: 'App', value: app, known: apps, onChange: app => set({ app }) },
          {
            name: 'since',
            label: 'Since',
            value: since,
            choices: ['1h', '24h', '7d', '30d'],
            isRequired: true,
            onChange: since => set({ since, until: undefined }),
          },
          ...untilField(until, until => set({ until })),
        ]}
      />
      <Panel isFlush>
        <Loaded query={definitions}>
          {all => {
            const rows = all
              .filter(({ name }) => q === undefined || name.toLowerCase().includes(q.toLowerCase()))
              .map(definition => {
                const key = keyOf(definition)
                const served = servers && (servers.get(key) ?? [])
                return { ...definition, stats: statsOf.get(key), nextAt: nextAt.get(key), servers: served }
              })
            if (rows.length > 0)
              return (
                <WholeRows count={rows.length}>
                  <ListTable
                    label="Workflows"
                    columns={COLUMNS}
                    rows={rows}
                    keyOf={keyOf}
                    look={lookAt}
                    onOpen={({ app, name }) => navigate({ to: 'workflow', params: { app, name } })}
                  />
                </WholeRows>
              )
            if (filters.length > 0) return <FilteredEmpty what="workflows" filters={filters} />
            return (
              <Empty title="No workflows yet">
                <p>A workflow appears when its runner registers.</p>
                <FirstRunner />
              </Empty>
            )
          }}
        </Loaded>
      </Panel>
    </Page>
  )
}

function Triggers({ row: { triggers, nextAt } }: { row: Row }) {
  if (triggers.length === 0) return <span className={css.mute}>no triggers</span>
  const text = triggers.map(triggerWords).join(', ')
  return (
    <span title={text}>
      {text}
      {nextAt !== undefined && (
        <span className={css.mute}>
          ,{' '}
          <span className={css.next}>
            next <Moment at={nextAt} />
          </span>
        </span>
      )}
    </span>
  )
}

function ServedBy({ row: { app, servers } }: { row: Row }) {
  const count = servers?.length ?? 0
  return (
    <span title={servers?.join(', ')}>
      {app}
      {servers && (
        <span className={css.mute}>, {count === 0 ? 'no runner' : count === 1 ? '1 runner' : `${count} runners`}</span>
      )}
    </span>
  )
}

function lookAt(row: Row): Look {
  return {
    head: (
      <>
        <b>{shortName(row.name)}</b> {shortName(row.app)}
      </>
    ),
    body: (
      <>
        <PeekPart name="Definition" text={definitionWords(row).join('\n')} />
        <PeekPart name="Runners" text={row.servers?.join('\n')} />
        <PeekPart name="Last failure" text={row.stats?.lastFailure?.message} />
      </>
    ),
  }
}
