// A table of a list that is read page by page: its loading, its errors, its rows, and the content shown if it has no row.

import type { InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Polite } from '../overlay/polite.tsx'
import { type ActiveFilter, FilteredEmpty } from '../states/empty.tsx'
import { Loaded } from '../states/loaded.tsx'
import styles from './data-table.module.css'
import { ListTable, type ListTableProps } from './list-table.tsx'
import { WholeRows } from './whole-rows.tsx'

/** The part of a query in pages that this file reads. */
interface PagedQuery<Page> {
  data: InfiniteData<Page> | undefined
  error: Error | null
  isFetching: boolean
  hasNextPage: boolean
  isFetchingNextPage: boolean
  refetch(): unknown
  fetchNextPage(): unknown
}

export interface PagedTableProps<Row, Page>
  extends Omit<ListTableProps<Row>, 'rows' | 'hasMore' | 'isLoadingMore' | 'onMore'> {
  query: PagedQuery<Page>
  /** Returns the rows of a page. Default: its items. */
  rowsOf?(page: Page): readonly Row[]
  /** The active filters; if there is one, an empty list offers to drop it. */
  filters?: readonly ActiveFilter[]
  /** The plural noun for rows, used if the filters leave the list empty. Default: `rows`. */
  what?: string
  /** Shown if there has never been a row. */
  empty: ReactNode
  /** Whether rows are as high as their texts, if the list is short and completely read. */
  isWhole?: boolean
}

/** Maximum number of rows read by scrolling; more are read on request. */
const ROWS_MAX = 5000

export function PagedTable<Row, Page extends object>(props: PagedTableProps<Row, Page>) {
  const { query, rowsOf = itemsOf, filters = [], what = 'rows', empty, isWhole = false, ...table } = props
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const rows = pages.flatMap(page => rowsOf(page) as Row[])
        if (rows.length > 0 || query.hasNextPage)
          return (
            <>
              <WholeRows count={isWhole && !query.hasNextPage ? rows.length : Number.POSITIVE_INFINITY}>
                <ListTable
                  {...table}
                  rows={rows}
                  hasMore={query.hasNextPage && rows.length < ROWS_MAX}
                  isLoadingMore={query.isFetchingNextPage}
                  onMore={() => void query.fetchNextPage()}
                />
              </WholeRows>
              {query.hasNextPage && rows.length >= ROWS_MAX && <GoOn count={rows.length} what={what} query={query} />}
            </>
          )
        return filters.length > 0 ? <FilteredEmpty what={what} filters={filters} /> : empty
      }}
    </Loaded>
  )
}

const itemsOf = (page: object): readonly never[] => (page as { items: never[] }).items

interface GoOnProps {
  count: number
  what: string
  query: Pick<PagedQuery<object>, 'isFetchingNextPage' | 'fetchNextPage'>
}

/** Shows how many rows there are, and reads more on request. */
function GoOn({ count, what, query }: GoOnProps) {
  return (
    <p className={styles.more}>
      <Polite text={`Showing ${count} ${what}; there are more.`} />
      <Button onClick={() => void query.fetchNextPage()}>{query.isFetchingNextPage ? 'Loading…' : 'Load more'}</Button>
    </p>
  )
}
