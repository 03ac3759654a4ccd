// The last posts that a receiver refused, with the reason for each.

import type { Calls } from '@perdure/client'
import { useRead } from '../../../data/queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Moment } from '../../../ui/moment.tsx'
import { Empty } from '../../../ui/states/empty.tsx'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { Panel } from '../../../ui/states/page.tsx'
import { type Column, DataTable } from '../../../ui/table/data-table.tsx'
import { WholeRows } from '../../../ui/table/whole-rows.tsx'
import { reasonText } from './refusal-words.ts'

type Refusal = Calls['listWebhookRefusals']['reply'][number]
type Row = Refusal & { key: string }

const COLUMNS: readonly Column<Row>[] = [
  { id: 'at', header: 'Time', width: '120px', render: ({ at }) => <Moment at={at} /> },
  { id: 'reason', header: 'Reason', render: reasonText },
  {
    id: 'size',
    header: 'Bytes',
    width: '110px',
    align: 'end',
    isSecondary: true,
    render: ({ sizeBytes }) => sizeBytes,
  },
  { id: 'address', header: 'From', width: '180px', isSecondary: true, render: ({ address }) => address ?? '' },
]

export function Refusals({ receiverId }: { receiverId: string }) {
  const query = useRead('listWebhookRefusals', { id: receiverId }, { staleMs: 0 })
  return (
    <Panel title="Rejected requests" isFlush actions={<Button onClick={() => void query.refetch()}>Refresh</Button>}>
      <Loaded query={query}>
        {refusals =>
          refusals.length === 0 ? (
            <Empty title="No rejected requests">
              <p>This engine has rejected no requests to this receiver since it started. It keeps the last 20.</p>
            </Empty>
          ) : (
            <WholeRows count={refusals.length}>
              <DataTable
                label="Rejected requests"
                columns={COLUMNS}
                rows={refusals.map((refusal, i) => ({ ...refusal, key: `${refusal.at} ${i}` }))}
                keyOf={({ key }) => key}
              />
            </WholeRows>
          )
        }
      </Loaded>
    </Panel>
  )
}
