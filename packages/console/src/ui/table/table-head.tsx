// The head of a table: names of columns, sorting, and the box that selects every loaded row.

import { memo } from 'react'
import styles from './data-table.module.css'
import type { DataTableProps } from './table-props.ts'

/** The widths of the columns with the rows' boxes and buttons. */
export const BOX_PX = 36
export const MENU_PX = 32

type HeadProps<Row> = Pick<DataTableProps<Row>, 'columns' | 'rows' | 'keyOf' | 'selection' | 'hasMenuButton'>

function Head<Row>({ columns, rows, keyOf, selection, hasMenuButton }: HeadProps<Row>) {
  const isAll = selection !== undefined && rows.length > 0 && rows.every(row => selection.keys.has(keyOf(row)))
  return (
    <>
      <colgroup>
        {selection && <col style={{ width: BOX_PX }} />}
        {columns.map(({ id, width }) => (
          <col key={id} style={width === undefined ? {} : { width }} />
        ))}
        {hasMenuButton && <col style={{ width: MENU_PX }} />}
      </colgroup>
      <thead>
        <tr>
          {selection && (
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Select all loaded rows"
                checked={isAll}
                onChange={() => selection.onChange(new Set(isAll ? [] : rows.map(keyOf)))}
              />
            </th>
          )}
          {columns.map(({ id, header, align, sort }) => (
            <th key={id} scope="col" data-align={align} aria-sort={ariaSort(sort?.dir)}>
              {sort ? (
                <button type="button" className={styles.sort} onClick={sort.onSort}>
                  {header} <span aria-hidden="true">{{ asc: '▲', desc: '▼', none: '' }[sort.dir ?? 'none']}</span>
                </button>
              ) : (
                header
              )}
            </th>
          ))}
          {hasMenuButton && (
            <th scope="col" data-menu="">
              <span className="visually-hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
    </>
  )
}

/** The widths of the columns, and their heads, which sort. */
export const TableHead = memo(Head) as typeof Head

const ariaSort = (dir: 'asc' | 'desc' | undefined) =>
  dir === undefined ? undefined : dir === 'asc' ? 'ascending' : 'descending'
