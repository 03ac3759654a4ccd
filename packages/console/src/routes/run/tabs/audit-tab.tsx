// The audit of a run: the entries of the audit log that target the run or forked into it.

import { cutText } from '@perdure/protocol/portable'
import { itemsOf, usePages } from '../../../data/queries.ts'
import { Link } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { PlainTable } from '../../../ui/table/plain-table.tsx'
import { exactTime, localTime } from '../../../ui/time.ts'
import { Visible } from '../../../ui/visible.tsx'
import css from './tabs.module.css'

const HEADS = ['Time', 'Action', 'Actor', 'Run', 'Details'] as const

export function AuditTab({ runId }: { runId: string }) {
  const pages = usePages('listControlActions', { runId, limit: 100 }, { keep: false })
  return (
    <Loaded query={pages}>
      {() => {
        const entries = itemsOf(pages)
        if (entries.length === 0) return <p className={css.none}>No audit entries.</p>
        return (
          <>
            <PlainTable className={css.table} label="Actions on the run" heads={HEADS}>
              {entries.map(({ id, action, actor, newRunId, runId: target, detail, createdAt }) => (
                <tr key={id}>
                  <td title={exactTime(Date.parse(createdAt))}>{localTime(Date.parse(createdAt))}</td>
                  <td>{action}</td>
                  <td>{actor === undefined ? 'not signed in' : <Visible text={cutText(actor, 128)} />}</td>
                  <td>
                    <OtherRun own={runId} ids={[target, newRunId]} />
                  </td>
                  <td>{detail === undefined ? '' : <Visible text={cutText(JSON.stringify(detail), 200)} />}</td>
                </tr>
              ))}
            </PlainTable>
            {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>Older entries</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

function OtherRun({ own, ids }: { own: string; ids: readonly (string | undefined)[] }) {
  const other = ids.find(id => id !== undefined && id !== own)
  return other === undefined ? 'this run' : <Link target={{ to: 'run', params: { id: other } }}>{other}</Link>
}
