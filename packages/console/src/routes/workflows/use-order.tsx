// The order of a list of workflows: by its column heads, and by a field if it has no heads. The URL keeps it.

import { useMemo } from 'react'
import type { FilterField } from '../../ui/filter-bar.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { isSortKey, nextOrder, type Order, orderOf } from './sort.ts'
import type { WorkflowRow } from './use-workflow-rows.ts'
import css from './workflows.module.css'

type Columns = readonly Column<WorkflowRow>[]
interface Ordered {
  sort?: string | undefined
  dir?: string | undefined
}

/** Returns the order in the URL, the columns with their sorts, and a field that sorts if the table has no heads. */
export function useOrder(
  all: Columns,
  get: (name: keyof Ordered) => string | undefined,
  set: (changes: Ordered) => void,
): [Order | undefined, Columns, FilterField] {
  const [sort, dir] = [get('sort'), get('dir')]
  const order = useMemo(() => orderOf(sort, dir), [sort, dir])
  const columns = useMemo(() => {
    const by = (next: Order | undefined) => set({ sort: next?.key, dir: next?.dir })
    return all.map(column => {
      const { id } = column
      if (!isSortKey(id)) return column
      return {
        ...column,
        sort: { dir: order?.key === id ? order.dir : undefined, onSort: () => by(nextOrder(order, id)) },
      }
    })
  }, [all, order, set])
  const field: FilterField = {
    name: 'sort',
    label: 'Sort',
    value: sort,
    onChange: sort => set({ sort, dir: undefined }),
    control: (
      <label className={css.sort}>
        Sort{' '}
        <select value={order?.key ?? ''} onChange={({ target }) => set({ sort: target.value, dir: undefined })}>
          <option value="">App, name</option>
          {all
            .filter(({ id }) => isSortKey(id))
            .map(({ id, header }) => (
              <option key={id} value={id}>
                {header}
              </option>
            ))}
        </select>
      </label>
    ),
  }
  return [order, columns, field]
}
