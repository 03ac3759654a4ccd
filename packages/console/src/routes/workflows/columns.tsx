// The columns of a list of workflows, and a preview of one: for the page of all workflows and the page of an app.

import { Link } from '../../router/router.tsx'
import { TrendSpark } from '../../ui/chart/trend-spark.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { definitionWords, triggerWords } from './definition-words.ts'
import { HELD, IN_FLIGHT, RunsLink } from './runs-link.tsx'
import { successText } from './stats.ts'
import type { WorkflowRow } from './use-workflow-rows.ts'
import css from './workflows.module.css'

export const WORKFLOW_COLUMNS: readonly Column<WorkflowRow>[] = [
  {
    id: 'name',
    header: 'Workflow',
    width: '16%',
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
    width: '92px',
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

type Counted = Pick<WorkflowRow, 'app' | 'name' | 'stats'>

function InFlight({ of: { app, name, stats } }: { of: Counted }) {
  return stats ? <RunsLink of={{ app, name }} status={IN_FLIGHT} count={stats.inFlight} what="in flight" /> : null
}

function Held({ of: { app, name, stats } }: { of: Counted }) {
  return stats ? <RunsLink of={{ app, name }} status={HELD} count={stats.held} what="queued by limits" /> : null
}

const duration = (ms: number | undefined) => (ms === undefined ? '' : durationText(ms))

function Triggers({ row: { triggers, nextAt } }: { row: WorkflowRow }) {
  if (triggers.length === 0) return <span className="mute">no triggers</span>
  const text = triggers.map(triggerWords).join(', ')
  return (
    <span title={text}>
      {text}
      {nextAt !== undefined && (
        <span className="mute">
          ,{' '}
          <span className={css.next}>
            next <Moment at={nextAt} />
          </span>
        </span>
      )}
    </span>
  )
}

function ServedBy({ row: { app, servers } }: { row: WorkflowRow }) {
  return (
    <span className={css.servedBy} title={servers?.join(', ')}>
      <Link target={{ to: 'app', params: { app } }}>{app}</Link>
      {servers && <span className="mute">, {runnersText(servers.length)}</span>}
    </span>
  )
}

const runnersText = (count: number) => (count === 0 ? 'no runner' : count === 1 ? '1 runner' : `${count} runners`)

/** The columns for the workflows of one app, without the app. */
export const COLUMNS_OF_APP: readonly Column<WorkflowRow>[] = WORKFLOW_COLUMNS.map(column =>
  column.id !== 'app'
    ? column
    : {
        id: 'servers',
        header: 'Runners',
        width: '84px',
        render: ({ servers }) => servers && <span title={servers.join(', ')}>{runnersText(servers.length)}</span>,
      },
)

/** Returns the preview of a workflow. */
export function lookAtWorkflow(row: WorkflowRow): Look {
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
