// The workflows of the overview: those that fail first, then those that became slower than in the window before.

import { useMemo } from 'react'
import { useRead } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { Link } from '../../router/router.tsx'
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

export function Workflows({ from }: { from: string | undefined }) {
  const stats = useRead('getWorkflowStats', { since: from, limit: LIMIT })
  const before = useMemo(() => windowBefore(from, engineNow()), [from])
  // After the first, since each takes the engine long over many runs.
  const enabled = before !== undefined && stats.data !== undefined
  const earlier = useRead('getWorkflowStats', { ...before, limit: LIMIT }, { enabled })
  return (
    <Panel title="Workflows by failures, then by change of p95">
      <Loaded query={stats} rows={3}>
        {rows =>
          rows.length === 0 ? (
            <p className={css.mute}>No workflow ran.</p>
          ) : (
            <PlainTable className={css.table} label="Workflows of the window" heads={HEADS}>
              {byTrouble(rows, earlier.data ?? [])
                .slice(0, SHOWN)
                .map(each => (
                  <Row key={`${each.row.app}/${each.row.workflow}`} of={each} />
                ))}
            </PlainTable>
          )
        }
      </Loaded>
    </Panel>
  )
}

function Row({ of: { row, beforeMs, change } }: { of: Compared<Stats> }) {
  const { app, workflow, started, failed, p95Ms } = row
  return (
    <tr>
      <td title={workflow}>
        <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>
      </td>
      <td>{started}</td>
      <td>
        {failed === 0 ? (
          0
        ) : (
          <Link target={{ to: 'runs', query: { app, workflow, status: 'failed' } }} aria-label={`${failed} failed`}>
            {failed}
          </Link>
        )}
      </td>
      <td title={beforeMs === undefined ? undefined : `${durationText(beforeMs)} in the window before, ±9 %`}>
        {p95Ms === undefined ? '' : durationText(p95Ms)}
      </td>
      <td>{change !== 1 && <b className={change > 1 ? css.worse : css.mute}>{changeText(change)}</b>}</td>
    </tr>
  )
}
