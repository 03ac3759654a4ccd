// One workflow: its definition as text and its history, its runs over time, its most expensive steps, the limits that hold its
// runs back, its errors and its newest runs.

import type { Input } from '@perdure/client'
import type { WorkflowDefinition } from '@perdure/protocol'
import { useMemo, useState } from 'react'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { countedUntil } from '../../data/time/counted.ts'
import { Link, useNavigate, usePage, useQuery } from '../../router/router.tsx'
import type { Query } from '../../router/routes.ts'
import { durationText } from '../../ui/duration.ts'
import { Facts } from '../../ui/facts.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { type MovingWindowOptions, useMovingWindow } from '../../ui/live-list/use-moving-window.ts'
import { Moment } from '../../ui/moment.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty } from '../../ui/states/empty.tsx'
import { windowFields } from '../../ui/states/filter-fields.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { byText, usePauseOfWorkflow } from '../../ui/states/pauses.ts'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { DEFAULT_COLUMNS, runColumns } from '../runs/columns.tsx'
import { definitionWords } from '../workflows/definition-words.ts'
import { definitionChanges } from '../workflows/past-definitions.ts'
import { HELD, IN_FLIGHT, RunsLink } from '../workflows/runs-link.tsx'
import { type Stats, successText } from '../workflows/stats.ts'
import css from '../workflows/workflows.module.css'
import { WorkflowActions } from './actions.tsx'
import { Charts } from './charts.tsx'
import { History } from './history.tsx'
import { Holds } from './holds.tsx'
import { stepRows } from './step-rows.ts'

/** The statistics are read again this long after a run has changed. */
const RENEWAL: MovingWindowOptions = {
  afterMs: 10_000,
  windowed: ['getWorkflowStats', 'getRunSeries', 'listErrors'],
  others: ['listWorkflows', 'listLimits', 'listBuffers', 'listRuns'],
}
const NEWEST_RUNS = 20
/** The engine's maximum. */
const DEFINITIONS_KEPT = 50

export default function WorkflowPage() {
  const { params } = usePage()
  const [app, name] = [params.app as string, params.name as string]
  const [get, set] = useQuery('workflow')
  const since = get('since') ?? '24h'
  const from = useMovingWindow(since, RENEWAL)
  const until = useTime(get('until'))
  const definitions = useRead('listWorkflows', { app })
  const stats = useRead('getWorkflowStats', { app, workflow: name, since: from, until: countedUntil(until) }).data?.[0]
  const definition = definitions.data?.find(each => each.name === name)
  // The engine refuses the read for a workflow that is not registered, which may still have runs.
  const past = usePages(
    'listDefinitions',
    { app, name, limit: DEFINITIONS_KEPT },
    { enabled: definition !== undefined, keep: false },
  )
  const changes = useMemo(() => definitionChanges(itemsOf({ data: past.data })), [past.data])
  const marks = useMemo(() => changes.map(({ now, text }) => ({ at: now.registeredAt, text })), [changes])
  const [shown, setShown] = useState<string>()
  return (
    <Page
      title={name}
      windowTitle={`${name} · workflow`}
      actions={
        <>
          {definition && <WorkflowActions of={definition} />}
          <Link target={{ to: 'runs', query: { app, workflow: name } }}>Runs</Link>
        </>
      }
    >
      <FilterBar label="Window" fields={[...windowFields({ since, until: get('until'), isRequired: true }, set)]} />
      <Panel title="Definition">
        <Loaded query={definitions}>
          {() => (definition ? <Definition of={definition} /> : <p className="mute">Not registered by any runner.</p>)}
        </Loaded>
      </Panel>
      {stats && <Numbers of={{ app, name }} stats={stats} />}
      <Charts
        {...{ app, from, until, marks }}
        workflow={name}
        onWindow={set}
        onMark={({ at }) =>
          setShown(changes.some(({ now, before }) => before && now.registeredAt === at) ? at : undefined)
        }
      />
      <History changes={changes} shown={shown} />
      {definition && <Holds app={app} workflow={name} />}
      {stats && stats.steps.length > 0 && <Steps steps={stats.steps} />}
      <Errors scope={{ app, workflow: name, since: from, until }} window={{ since, until }} />
      <NewestRuns app={app} workflow={name} />
      {definition && (
        <Panel title="Registration">
          <JsonTree text={JSON.stringify(definition)} label="the registration" isPublic />
        </Panel>
      )}
    </Page>
  )
}

function Definition({ of }: { of: WorkflowDefinition }) {
  const pause = usePauseOfWorkflow(of.app, of.name, of.pausedAt)
  return (
    <ul className={`plain-list ${css.words}`}>
      <li>
        It is part of app <Link target={{ to: 'app', params: { app: of.app } }}>{of.app}</Link>.
      </li>
      {of.pausedAt !== undefined && (
        <li>
          <Status status="paused" /> Paused <Moment at={of.pausedAt} />
          {byText(pause)}: new runs stay queued until it is resumed.
        </li>
      )}
      {of.limits && (
        <li>
          An operator has set{' '}
          {Object.entries(of.limits)
            .map(([limit, value]) => `${limit} to ${value}`)
            .join(' and ')}
          , instead of the registered limit.
        </li>
      )}
      {definitionWords(of).map(sentence => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  )
}

function Numbers({ of, stats }: { of: { app: string; name: string }; stats: Stats }) {
  const { started, failed, inFlight, held, p50Ms, p95Ms, p99Ms, queueP95Ms, lastFailure } = stats
  const about = (ms: number | undefined) => (ms === undefined ? undefined : `${durationText(ms)} ±9 %`)
  return (
    <Panel title="Run statistics">
      <Facts
        facts={[
          ['Started', String(started)],
          ['Succeeded', successText(stats)],
          ['Failed', String(failed)],
          [
            'In flight',
            inFlight === 0 ? '0' : <RunsLink key="f" of={of} status={IN_FLIGHT} count={inFlight} what="in flight" />,
          ],
          [
            'Queued by limits',
            held === 0 ? '0' : <RunsLink key="h" of={of} status={HELD} count={held} what="queued by limits" />,
          ],
          ['Median', about(p50Ms)],
          ['p95', about(p95Ms)],
          ['p99', about(p99Ms)],
          ['Queue time p95', about(queueP95Ms)],
          [
            'Last failure',
            lastFailure && (
              <Link target={{ to: 'run', params: { id: lastFailure.runId } }} title={lastFailure.message}>
                <Moment at={lastFailure.at} />
              </Link>
            ),
          ],
        ]}
      />
    </Panel>
  )
}

function Steps({ steps }: { steps: Stats['steps'] }) {
  return (
    <Panel title="Steps by total time in the newest runs">
      <ol className={`plain-list ${css.steps}`}>
        {stepRows(steps).map(({ name, percent, text }) => (
          <li key={name}>
            <span className="one-line" title={name}>
              {name}
            </span>
            <div className={css.track}>
              <div className={css.bar} style={{ width: `${percent}%` }} />
            </div>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

function Errors({ scope, window: query }: { scope: Input<'listErrors'>; window: Query<'errorGroup'> }) {
  const navigate = useNavigate()
  const groups = useRead('listErrors', { ...scope, state: 'open' })
  if (groups.data?.length === 0) return null
  const columns: readonly Column<NonNullable<typeof groups.data>[number]>[] = [
    { id: 'count', header: 'Runs', width: '72px', align: 'end', render: ({ count }) => <strong>{count}</strong> },
    {
      id: 'message',
      header: 'Error',
      render: ({ fingerprint, message }) => (
        <Link target={{ to: 'errorGroup', params: { fingerprint }, query }} title={message}>
          {message}
        </Link>
      ),
    },
    { id: 'step', header: 'Step', width: '24%', isSecondary: true, render: ({ stepName }) => stepName ?? '' },
    { id: 'last', header: 'Last', width: '112px', align: 'end', render: ({ lastAt }) => <Moment at={lastAt} /> },
  ]
  return (
    <Panel title="Errors" isFlush>
      <Loaded query={groups} rows={2}>
        {rows => (
          <DataTable
            label="Error groups of the workflow"
            columns={columns}
            rows={rows}
            keyOf={({ fingerprint }) => fingerprint}
            onOpen={({ fingerprint }) => navigate({ to: 'errorGroup', params: { fingerprint }, query })}
          />
        )}
      </Loaded>
    </Panel>
  )
}

function NewestRuns({ app, workflow }: { app: string; workflow: string }) {
  const navigate = useNavigate()
  const query = usePages('listRuns', { app, workflow, limit: NEWEST_RUNS })
  const runs = itemsOf(query).slice(0, NEWEST_RUNS)
  const columns = useMemo(
    () =>
      runColumns(DEFAULT_COLUMNS, { key: 'started', dir: 'desc', onSort: () => {} }, 0)
        // All rows have these in common.
        .filter(({ id }) => id !== 'workflow' && id !== 'app')
        .map(({ sort: _, ...column }) => column),
    [],
  )
  return (
    <Panel title="Newest runs" isFlush>
      <Loaded query={query}>
        {() =>
          runs.length === 0 ? (
            <Empty title="No runs yet" />
          ) : (
            <DataTable
              label="Newest runs of the workflow"
              columns={columns}
              rows={runs}
              keyOf={({ id }) => id}
              onOpen={({ id }) => navigate({ to: 'run', params: { id } })}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}
