// Runners: the processes that execute workflows, and whether they can be reached.

import type { Calls } from '@perdure/client'
import { renew, useRead } from '../../data/queries.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { FirstRunner } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { disagreements } from './disagreements.ts'
import css from './runners.module.css'

/** From a change of a run to the next read. */
const RENEWAL_MS = 10_000

type Runner = Calls['listRunners']['reply'][number]

const COLUMNS: readonly Column<Runner>[] = [
  {
    id: 'live',
    header: 'State',
    width: '118px',
    render: runner => <Status status={runner.live ? 'succeeded' : 'failed'} word={stateOf(runner)} />,
  },
  { id: 'runner', header: 'Runner', render: runner => <Name runner={runner} /> },
  {
    id: 'app',
    header: 'App',
    width: '12%',
    render: ({ app }) => <Link target={{ to: 'workflows', query: { app } }}>{app}</Link>,
  },
  {
    id: 'seen',
    header: 'Last seen',
    width: '92px',
    align: 'end',
    render: ({ lastSeenAt }) => <Moment at={lastSeenAt} />,
  },
  {
    id: 'load',
    header: 'In progress',
    width: '100px',
    align: 'end',
    render: ({ inFlight, room }) => (room === undefined ? String(inFlight) : `${inFlight} of ${inFlight + room}`),
  },
  {
    id: 'rate',
    header: 'Passes/min',
    width: '104px',
    align: 'end',
    isSecondary: true,
    render: ({ passesPerMin }) => String(passesPerMin),
  },
  {
    id: 'p95',
    header: 'p95',
    width: '72px',
    align: 'end',
    isSecondary: true,
    render: ({ p95Ms }) => (p95Ms === undefined ? '' : durationText(p95Ms)),
  },
  {
    id: 'failures',
    header: 'Failures',
    width: '80px',
    align: 'end',
    render: ({ failures, lastFailure }) => <span title={lastFailure?.message}>{failures}</span>,
  },
  {
    id: 'serves',
    header: 'Workflows',
    width: '104px',
    align: 'end',
    isSecondary: true,
    render: ({ workflows = [] }) => (
      <span title={workflows.map(({ name }) => name).join(', ')}>{workflows.length}</span>
    ),
  },
]

/** A Connect runner without a socket is disconnected; one that is called by HTTP is silent when it sends no heartbeat. */
function stateOf({ live, url }: Runner): string {
  if (live) return 'live'
  return isConnect(url) ? 'disconnected' : 'silent'
}

const isConnect = (url: string) => url.startsWith('conn:')

export default function RunnersPage() {
  const [get, set] = useQuery('runners')
  const [app, workflow] = [get('app'), get('workflow')]
  const query = useRead('listRunners', { app })
  useRenewal(() => renew('listRunners'), { afterMs: RENEWAL_MS })
  const apps = useRead('listApps', {}).data?.map(({ name }) => name) ?? []
  const known = [...new Set((query.data ?? []).flatMap(({ workflows = [] }) => workflows.map(({ name }) => name)))]
  const serves = ({ workflows = [] }: Runner) =>
    workflow === undefined || workflows.some(({ name }) => name === workflow)
  const filters = (['app', 'workflow'] as const).flatMap(name => {
    const value = get(name)
    return value === undefined ? [] : [{ label: `${name}:${value}`, drop: () => set({ [name]: undefined }) }]
  })
  return (
    <Page title="Runners">
      <FilterBar
        label="Filter runners"
        fields={[
          { name: 'app', label: 'App', value: app, known: apps, onChange: app => set({ app }) },
          {
            name: 'workflow',
            label: 'Workflow',
            value: workflow,
            known: known.sort(),
            onChange: workflow => set({ workflow }),
          },
        ]}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {all => {
            const runners = all.filter(serves)
            return runners.length > 0 ? (
              <>
                <Disagreements runners={runners} />
                <WholeRows count={runners.length}>
                  <ListTable
                    label="Runners"
                    columns={COLUMNS}
                    rows={runners}
                    keyOf={({ app, runnerId }) => `${app}\n${runnerId}`}
                    look={lookAt}
                  />
                </WholeRows>
              </>
            ) : filters.length > 0 ? (
              <FilteredEmpty what="runners" filters={filters} />
            ) : (
              <Empty title="No runners yet">
                <p>A runner is your process that executes workflows. It registers when it starts.</p>
                <FirstRunner />
              </Empty>
            )
          }}
        </Loaded>
      </Panel>
    </Page>
  )
}

function lookAt({ runnerId, app, url, workflows, lastFailure }: Runner): Look {
  return {
    head: (
      <>
        <b>{shortName(runnerId)}</b> {shortName(app)}
      </>
    ),
    body: (
      <>
        <PeekPart name="URL" text={url} />
        <PeekPart name="Workflows" text={workflows?.map(({ name }) => name).join(', ')} />
        <PeekPart name="Last failure" text={lastFailure?.message} />
      </>
    ),
  }
}

/** Workflows of which live runners of one app have different definitions: a deployment is under way, or went wrong. */
function Disagreements({ runners }: { runners: readonly Runner[] }) {
  return disagreements(runners).map(({ app, workflow, runnerIds }) => (
    <p key={`${app}\n${workflow}`} role="note" className={css.warning}>
      ⚠ Runners of {shortName(app)} disagree on the definition of {shortName(workflow)}: {runnerIds.join(', ')}. The
      newest one applies.
    </p>
  ))
}

/** The name of a runner; below it the address, if that is not the name, and the program that runs there. */
function Name({ runner }: { runner: Runner }) {
  const { runnerId, url, sdkName, version, runtime, framework, region, keyMatches, keyFingerprint } = runner
  const program = [[sdkName, version].filter(Boolean).join(' '), runtime, framework]
  const facts = [isConnect(url) ? 'Connect' : 'HTTP', ...new Set(program), region].filter(Boolean)
  return (
    <>
      <span>{runnerId}</span>
      {!isConnect(url) && url !== runnerId && <span className={css.detail}>{url}</span>}
      <span className={css.detail}>
        {facts.join(' · ')}
        {keyMatches !== undefined && (
          <span title={keyFingerprint}> · {keyMatches ? '✓ key matches' : '✕ key differs'}</span>
        )}
      </span>
    </>
  )
}
