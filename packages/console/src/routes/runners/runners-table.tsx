// A list of runners, with a preview of one and a warning if they disagree: for the page of all runners and the page of an app.

import type { Calls } from '@perdure/client'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { disagreements } from './disagreements.ts'
import css from './runners.module.css'

export type Runner = Calls['listRunners']['reply'][number]

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
    render: ({ app }) => <Link target={{ to: 'app', params: { app } }}>{app}</Link>,
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
    width: '92px',
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

/**
 * Returns the state: a Connect runner without a socket is disconnected; a runner called over HTTP that sends no heartbeat is
 * silent.
 */
function stateOf({ live, url }: Runner): string {
  if (live) return 'live'
  return isConnect(url) ? 'disconnected' : 'silent'
}

/** Whether the runner has a socket to the engine, instead of an address. */
export const isConnect = (url: string) => url.startsWith('conn:')

/** Returns the key of a row. */
const keyOf = ({ app, runnerId }: Runner) => `${app}\n${runnerId}`

/** Returns the preview of a runner. */
function lookAtRunner({ runnerId, app, url, workflows, lastFailure }: Runner): Look {
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

const COLUMNS_OF_APP = COLUMNS.filter(({ id }) => id !== 'app')

export interface RunnersTableProps {
  label: string
  runners: readonly Runner[]
  /** Whether all rows belong to one app, which is then not shown. */
  isOfApp?: boolean
}

export function RunnersTable({ label, runners, isOfApp = false }: RunnersTableProps) {
  return (
    <>
      <Disagreements runners={runners} />
      <WholeRows count={runners.length}>
        <ListTable
          label={label}
          columns={isOfApp ? COLUMNS_OF_APP : COLUMNS}
          rows={runners}
          keyOf={keyOf}
          look={lookAtRunner}
        />
      </WholeRows>
    </>
  )
}

/** Workflows whose definitions differ between live runners of one app: a deployment is under way, or went wrong. */
function Disagreements({ runners }: { runners: readonly Runner[] }) {
  return disagreements(runners).map(({ app, workflow, runnerIds }) => (
    <p key={`${app}\n${workflow}`} role="note" className={css.warning}>
      ⚠ Runners of {shortName(app)} disagree on the definition of {shortName(workflow)}: {runnerIds.join(', ')}. The
      newest one applies.
    </p>
  ))
}

/** The name of a runner; below it the address, if it is not the name, and the program that runs there. */
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
