// The registration of an app: since when, by which runners and programs, and which definition changed last.

import type { WorkflowDefinition } from '@perdure/protocol'
import { itemsOf, usePages } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { isConnect, type Runner } from '../runners/runners-table.tsx'
import { tally } from './tally.ts'

export interface RegistrationProps {
  /** When the app first registered. */
  createdAt: string | undefined
  workflows: readonly WorkflowDefinition[]
  runners: readonly Runner[]
}

export function Registration({ createdAt, workflows, runners }: RegistrationProps) {
  const live = runners.filter(runner => runner.live).length
  const newest = workflows.toSorted((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt))[0]
  const program = ({ sdkName, version }: Runner) => [sdkName, version].filter(Boolean).join(' ')
  const key = ({ keyMatches }: Runner) =>
    keyMatches === undefined ? undefined : keyMatches ? 'matches the engine' : 'differs from the engine'
  return (
    <Panel title="Registration">
      <Facts
        facts={[
          ['First registered', createdAt && <Moment at={createdAt} />],
          ['Last change', newest && <LastChange of={newest} />],
          ['Runners', `${live} live of ${runners.length}`],
          ['Transport', tally(runners.map(({ url }) => (isConnect(url) ? 'Connect' : 'HTTP')))],
          ['SDK', tally(runners.map(program))],
          ['Runtime', tally(runners.map(({ runtime }) => runtime))],
          ['Framework', tally(runners.map(({ framework }) => framework))],
          ['Language', tally(runners.map(({ language }) => language))],
          ['Region', tally(runners.map(({ region }) => region))],
          ['Signing key', tally(runners.map(key))],
        ]}
      />
    </Panel>
  )
}

/** The definition that changed last, and the runner that registered it. */
function LastChange({ of: { app, name, updatedAt } }: { of: WorkflowDefinition }) {
  const runner = itemsOf(usePages('listDefinitions', { app, name, limit: 1 }, { keep: false }))[0]?.runner
  return (
    <>
      <Link target={{ to: 'workflow', params: { app, name } }}>{shortName(name)}</Link> <Moment at={updatedAt} />
      {runner !== undefined && ` by ${shortName(runner)}`}
    </>
  )
}
