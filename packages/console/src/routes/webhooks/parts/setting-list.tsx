// The table of endpoints or of receivers: all of them, or the one in the address.

import type { ReactNode } from 'react'
import { Link } from '../../../router/router.tsx'
import { Empty } from '../../../ui/states/empty.tsx'
import { ListTable, type ListTableProps } from '../../../ui/table/list-table.tsx'
import { WholeRows } from '../../../ui/table/whole-rows.tsx'

export interface SettingListProps<Row> extends Pick<ListTableProps<Row>, 'columns' | 'rows' | 'look'> {
  noun: 'endpoint' | 'receiver'
  /** The id in the address; absent: all are shown. */
  shown: string | undefined
  /** Replaces the table if it is empty. */
  children: ReactNode
}

export function SettingList<Row extends { id: string }>(props: SettingListProps<Row>) {
  const { noun, columns, rows, look, shown, children } = props
  const label = noun === 'endpoint' ? 'Endpoints' : 'Receivers'
  const listed = rows.filter(({ id }) => shown === undefined || id === shown)
  if (listed.length > 0) {
    return (
      <WholeRows count={rows.length}>
        <ListTable
          hasMenuButton={false}
          label={label}
          columns={columns}
          rows={listed}
          keyOf={({ id }) => id}
          {...(look && { look })}
        />
      </WholeRows>
    )
  }
  if (shown === undefined) return children
  return (
    <Empty title={`No ${noun} with this ID`}>
      <p>
        It may have been deleted. <Link target={{ to: `${noun}s` }}>All {noun}s</Link>
      </p>
    </Empty>
  )
}
