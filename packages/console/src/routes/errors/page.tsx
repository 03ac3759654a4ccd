// Errors: failed runs grouped by their failure, the largest group first; and one group with its newest runs.

import type { Calls, Page as PageOf } from '@perdure/client'
import { cutText } from '@perdure/protocol/portable'
import { type ReactNode, useMemo, useState } from 'react'
import { renew, usePages, useRead } from '../../data/queries.ts'
import { Link, useNavigate, usePage, useQuery } from '../../router/router.tsx'
import { useSession, whyNoNewRun } from '../../session/session.ts'
import { CountSpark } from '../../ui/chart/count-spark.tsx'
import { Facts } from '../../ui/facts.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { activeFilters, useWorkflowFields, windowFields } from '../../ui/states/filter-fields.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { Visible } from '../../ui/visible.tsx'
import { kindWords, shortName } from '../../ui/visible-text.ts'
import { ErrorText } from '../run/model/error-text.tsx'
import { DEFAULT_COLUMNS, type Run, runColumns } from '../runs/columns.tsx'
import css from './errors.module.css'
import { type Ended, type GroupAction, GroupActions, GroupDialog, groupMenu } from './group-actions.tsx'
import { ranWords, runnersText, runnerWords } from './runners.ts'
import { isState, STATES, StateActions, StateText, useStateMenu } from './states.tsx'

type Group = Calls['listErrors']['reply'][number]

const MESSAGE_MAX = 300
/** Number of spans in the trend of a group. */
const TREND_SPANS = 24
/** Number of groups that are read: the engine's maximum. */
const GROUPS_READ = 200
/** Number of runners shown for a group, the ones with most of its failures. */
const RUNNERS = 10
/** Delay from a change of a run to the next read of the groups. */
const RENEWAL_MS = 10_000
/**
 * The default window of a page, if its URL has none: a link from the list names the list's window. A group that is linked from
 * elsewhere may be older than a day.
 */
const WINDOW_OF_LIST = '24h'
const WINDOW_OF_GROUP = '30d'

const COLUMNS: readonly Column<Group>[] = [
  { id: 'count', header: 'Runs', width: '72px', align: 'end', render: ({ count }) => <strong>{count}</strong> },
  { id: 'message', header: 'Error', render: group => <Message group={group} /> },
  {
    id: 'trend',
    header: 'Trend',
    width: '112px',
    isSecondary: true,
    render: ({ trend = [] }) => <CountSpark counts={trend} what="failures" />,
  },
  {
    id: 'where',
    header: 'Workflow, step',
    width: '20%',
    render: ({ workflow, kind, stepName }) => (
      <span title={stepName}>
        {workflow}
        {kind && <span className="mute"> {kindWords(kind)}</span>}
        {stepName !== undefined && <span className="mute"> · {stepName}</span>}
      </span>
    ),
  },
  { id: 'app', header: 'App', width: '15%', render: group => <RanOn group={group} /> },
  {
    id: 'first',
    header: 'First seen',
    width: '104px',
    align: 'end',
    isSecondary: true,
    render: ({ firstSeenAt }) => <Moment at={firstSeenAt} />,
  },
  { id: 'last', header: 'Last seen', width: '112px', align: 'end', render: ({ lastAt }) => <Moment at={lastAt} /> },
]

const STATE_COLUMN: Column<Group> = {
  id: 'state',
  header: 'State',
  width: '172px',
  render: group => <StateText of={group} />,
}

/** Returns the columns. The column of states is only there if a group has a state. */
const columnsOf = (rows: readonly Group[]) =>
  rows.some(({ stateSetAt }) => stateSetAt !== undefined)
    ? [...COLUMNS.slice(0, 2), STATE_COLUMN, ...COLUMNS.slice(2)]
    : COLUMNS

export default function ErrorsPage() {
  const { params } = usePage()
  const { groups, bar, filters, window, ended } = useGroups(params.fingerprint !== undefined)
  const navigate = useNavigate()
  const stateMenu = useStateMenu()
  const refused = whyNoNewRun(useSession())
  const [chosen, setChosen] = useState<{ action: GroupAction; fingerprint: string }>()
  if (params.fingerprint !== undefined)
    return <GroupPage fingerprint={params.fingerprint} groups={groups.data} bar={bar} window={window} ended={ended} />
  return (
    <Page title="Errors">
      {bar}
      <Panel isFlush>
        <Loaded query={groups}>
          {rows =>
            rows.length > 0 ? (
              <>
                <WholeRows count={rows.length}>
                  <ListTable
                    label="Error groups"
                    look={lookAt}
                    columns={columnsOf(rows)}
                    rows={rows}
                    keyOf={({ fingerprint }) => fingerprint}
                    onOpen={({ fingerprint }) => navigate({ to: 'errorGroup', params: { fingerprint }, query: window })}
                    menuOf={group => [
                      ...stateMenu(group),
                      ...groupMenu(refused, action => setChosen({ action, fingerprint: group.fingerprint })),
                    ]}
                  />
                </WholeRows>
                {rows.length >= GROUPS_READ && (
                  <p className={css.note}>Showing the {GROUPS_READ} groups with the most runs; there may be more.</p>
                )}
              </>
            ) : filters.length > 0 ? (
              <FilteredEmpty what="errors" filters={filters} />
            ) : (
              <Empty title={`No open errors within ${window.since}`}>
                <p>
                  Failed runs appear here, grouped by workflow, step, message and the code that threw the error.
                  Numbers, ids and names in messages are ignored.
                </p>
              </Empty>
            )
          }
        </Loaded>
      </Panel>
      {chosen && <GroupDialog {...chosen} ended={ended} onClose={() => setChosen(undefined)} />}
    </Page>
  )
}

/** Returns the groups of the window; the page of one group has no other filter. */
function useGroups(isOfOne: boolean) {
  const [get, set] = useQuery('errors')
  const [app, workflow, since] = [
    get('app'),
    get('workflow'),
    get('since') ?? (isOfOne ? WINDOW_OF_GROUP : WINDOW_OF_LIST),
  ]
  const until = get('until')
  const asked = get('state')
  const state = isState(asked) ? asked : 'open'
  const [from, end] = [useTime(since), useTime(until)]
  const scope = { app, workflow, since: from, until: end, ...(isOfOne ? {} : { state }) }
  const groups = useRead('listErrors', { ...scope, trend: TREND_SPANS, runners: RUNNERS, limit: GROUPS_READ })
  useRenewal(() => renew('listErrors'), { afterMs: RENEWAL_MS })
  const fields = useWorkflowFields(get, set)
  const filters = activeFilters(['state', 'app', 'workflow', 'since', 'until'], get, set)
  const bar = (
    <FilterBar
      label="Filter errors"
      fields={[
        ...(isOfOne
          ? []
          : [
              {
                name: 'state',
                label: 'State',
                value: state,
                choices: STATES,
                isRequired: true,
                onChange: (state: string | undefined) => set({ state: state === 'open' ? undefined : state }),
              },
              ...fields,
            ]),
        ...windowFields({ since, until, isRequired: true }, set),
      ]}
    />
  )
  return { groups, bar, filters, window: { since, until }, ended: endedIn(from, end) }
}

/** Returns the window by the ends of runs, as the groups count them. */
const endedIn = (since: string | undefined, until: string | undefined): Ended => ({
  ...(since === undefined ? {} : { endedSince: since }),
  ...(until === undefined ? {} : { endedUntil: until }),
})

function Message({ group: { message, code, fingerprint } }: { group: Group }) {
  const [get] = useQuery('errors')
  const query = { since: get('since') ?? WINDOW_OF_LIST, until: get('until') }
  const text = cutText(message, MESSAGE_MAX, '…')
  return (
    <span className={css.message} title={text}>
      <Link target={{ to: 'errorGroup', params: { fingerprint }, query }}>
        <Visible text={text} />
      </Link>{' '}
      <span className="mute">{code}</span>
    </span>
  )
}

function RanOn({ group: { app, runners = [] } }: { group: Group }) {
  const text = runnersText(runners, RUNNERS)
  return (
    <span title={runners.map(runnerWords).join('\n')}>
      {app}
      {text && <span className="mute">, {text}</span>}
    </span>
  )
}

function lookAt({ workflow, stepName, message, code, count, runners = [] }: Group): Look {
  return {
    head: (
      <>
        <b>{shortName(workflow)}</b> {stepName !== undefined && shortName(stepName)}
      </>
    ),
    body: (
      <>
        <PeekPart name={code ?? 'Error'} text={message} />
        <PeekPart name="Runs" text={String(count)} />
        <PeekPart name="Runners" text={runners.map(runnerWords).join('\n') || undefined} />
      </>
    ),
  }
}

function lookAtRun({ id, workflow, error }: Run): Look {
  return { head: <b>{shortName(workflow)}</b>, body: <PeekPart name={id} text={error?.message ?? 'no error'} /> }
}

interface GroupPageProps {
  fingerprint: string
  /** The groups of the window. */
  groups: readonly Group[] | undefined
  /** The filters that choose the window. */
  bar: ReactNode
  /** The window, in the form of the URL and as times. */
  window: { since: string; until: string | undefined }
  ended: Ended
}

function GroupPage({ fingerprint, groups, bar, window, ended }: GroupPageProps) {
  const navigate = useNavigate()
  const group = groups?.find(each => each.fingerprint === fingerprint)
  const query = usePages('listRuns', { error: fingerprint, ...ended, limit: 100 })
  const columns = useMemo(
    () =>
      runColumns(DEFAULT_COLUMNS, { key: 'started', dir: 'desc', onSort: () => {} }, 0)
        // The workflow is part of the fingerprint.
        .filter(({ id }) => id !== 'workflow')
        .map(({ sort: _, ...column }) => column),
    [],
  )
  return (
    <Page
      title={group ? cutText(group.message, 160, '…') : `Error ${fingerprint}`}
      actions={
        <>
          {group && <StateActions of={group} />}
          <GroupActions fingerprint={fingerprint} ended={ended} />
          <Link
            target={{
              to: 'runs',
              query: { error: fingerprint, 'ended-since': window.since, 'ended-until': window.until },
            }}
          >
            Open in runs
          </Link>
        </>
      }
    >
      {bar}
      {groups && !group && <p className="mute">{whyNoGroup(groups)}</p>}
      {group && <GroupFacts of={group} />}
      {group && <LastError runId={group.lastRunId} />}
      <Panel title="Runs in the window" isFlush>
        <PagedTable<Run, PageOf<Run>>
          label="Runs of the group"
          query={query}
          columns={columns}
          keyOf={({ id }) => id}
          look={lookAtRun}
          what="runs"
          empty={
            <Empty title="No stored runs in this window">
              <p>A longer window may have some, unless retention deleted them.</p>
            </Empty>
          }
          onOpen={({ id }) => navigate({ to: 'run', params: { id } })}
        />
      </Panel>
    </Page>
  )
}

function GroupFacts({ of: group }: { of: Group }) {
  return (
    <Panel title="Group">
      <Facts
        facts={[
          [
            'Workflow',
            <Link key="w" target={{ to: 'workflow', params: { app: group.app, name: group.workflow } }}>
              {group.workflow}
            </Link>,
          ],
          ['State', group.stateSetAt === undefined ? 'open' : <StateText key="s" of={group} />],
          [
            'App',
            <Link key="a" target={{ to: 'app', params: { app: group.app } }}>
              {group.app}
            </Link>,
          ],
          ['Kind', group.kind && 'on-failure runs'],
          ['Step', group.stepName],
          ['Code', group.code],
          ['Runs in the window', group.count],
          ['Trend', group.trend && <CountSpark key="t" counts={group.trend} what="failures" />],
          ['Runners', group.runners && group.runners.length > 0 && <Runners key="r" of={group} />],
          ['First seen', <Moment key="f" at={group.firstSeenAt} />],
          ['Last seen', <Moment key="l" at={group.lastAt} />],
        ]}
      />
    </Panel>
  )
}

/** The error of the last run, with its stack. */
function LastError({ runId }: { runId: string }) {
  const query = useRead('getRun', { id: runId })
  return (
    <Panel title="Last failure" actions={<Link target={{ to: 'run', params: { id: runId } }}>Open run</Link>}>
      <Loaded query={query} rows={2}>
        {({ error }) => (error ? <ErrorText error={error} /> : null)}
      </Loaded>
    </Panel>
  )
}

const whyNoGroup = ({ length }: readonly Group[]) =>
  length < GROUPS_READ
    ? 'No failures of this group in this window.'
    : `Not among the ${GROUPS_READ} groups with the most runs in this window.`

/** The runners of a group, with the failures on each. */
function Runners({ of: { count, runners = [], lastRunner } }: { of: Group }) {
  const others = count - runners.reduce((sum, runner) => sum + runner.count, 0)
  return (
    <ul className={`plain-list ${css.runners}`}>
      {runners.map(({ runnerId, ...runner }) => (
        <li key={runnerId}>
          <Visible text={runnerId} />
          <span className="mute">
            : {ranWords(runner)}
            {runnerId === lastRunner && ', most recent'}
          </span>
        </li>
      ))}
      {others > 0 && <li className="mute">{others} on other runners or none</li>}
    </ul>
  )
}
