// The workflows of the overview: those that fail first, then those that have become slower than in the previous window.

import { useMemo } from 'react'
import { useRead } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { countedUntil } from '../../data/time/counted.ts'
import { Link } from '../../router/router.tsx'
import type { Query } from '../../router/routes.ts'
import { durationText } from '../../ui/duration.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { PlainTable } from '../../ui/table/plain-table.tsx'
import type { Stats } from '../workflows/stats.ts'
import { byTrouble, type Compared, changeText, windowBefore } from './changes.ts'
import css from './overview.module.css'

const SHOWN = 5
const LIMIT = 200
const HEADS = ['Workflow', 'Runs', 'Failed', 'p95', 'Change'] as const

export type Window = Pick<Query<'overview'>, 'since' | 'until'>

/** `window`: in the form of the URL; `from` is the time at which it begins. */
export function Workflows({ window, from }: { window: Window; from: string | undefined }) {
  const { until } = window
  const stats = useRead('getWorkflowStats', { since: from, until: countedUntil(until), limit: LIMIT })
  const before = useMemo(() => windowBefore(from, until === undefined ? engineNow() : Date.parse(until)), [from, until])
  // Read after the first, because each takes the engine long if there are many runs.
  const enabled = before !== undefined && stats.data !== undefined
  const earlier = useRead('getWorkflowStats', { ...before, limit: LIMIT }, { enabled })
  return (
    <Panel title="Workflows by failures, then by change of p95">
      <Loaded query={stats} rows={3}>
        {rows =>
          rows.length === 0 ? (
            <p className="mute">No workflows ran.</p>
          ) : (
            <PlainTable className={css.table} label="Workflows in this window" heads={HEADS}>
              {byTrouble(rows, earlier.data ?? [])
                .slice(0, SHOWN)
                .map(each => (
                  <Row key={`${each.row.app}/${each.row.workflow}`} of={each} window={window} />
                ))}
            </PlainTable>
          )
        }
      </Loaded>
    </Panel>
  )
}

function Row({ of: { row, beforeMs, change }, window }: { of: Compared<Stats>; window: Window }) {
  const { app, workflow, started, failed, p95Ms } = row
  return (
    <tr>
      <td title={`${workflow} in ${app}`}>
        <Link target={{ to: 'workflow', params: { app, name: workflow }, query: window }}>{workflow}</Link>{' '}
        <span className="mute">{app}</span>
      </td>
      <td>{started}</td>
      <td>
        {failed === 0 ? (
          0
        ) : (
          <Link target={{ to: 'errors', query: { app, workflow, ...window } }} aria-label={`${failed} failed`}>
            {failed}
          </Link>
        )}
      </td>
      <td title={beforeMs === undefined ? undefined : `${durationText(beforeMs)} in the previous window, ±9 %`}>
        {p95Ms === undefined ? '' : durationText(p95Ms)}
      </td>
      <td>{change !== 1 && <b className={change > 1 ? css.worse : 'mute'}>{changeText(change)}</b>}</td>
    </tr>
  )
}
