// Changes of the rows of a list in pages. Pure: rows are replaced, never moved.

import type { Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import { sourceOf } from '../../data/json/parse.ts'

export type Pages<Row> = InfiniteData<Page<Row>>

/** Returns the same object if no row changes, and keeps the pages whose rows do not change. */
export function replaceRows<Row>(pages: Pages<Row>, replace: (row: Row) => Row): Pages<Row> {
  let isChanged = false
  const next = pages.pages.map(page => {
    const items = page.items.map(replace)
    if (items.every((row, i) => row === page.items[i])) return page
    isChanged = true
    return { ...page, items }
  })
  return isChanged ? { ...pages, pages: next } : pages
}

/** Puts the known object of each row that reads the same into the new page, so that its table row is not rendered again. */
export function keepKnown<Row>(pages: Pages<Row>, page: Page<Row>, keyOf: (row: Row) => string): void {
  const known = new Map(pages.pages.flatMap(({ items }) => items.map(row => [keyOf(row), row])))
  for (const [i, row] of page.items.entries()) {
    const same = known.get(keyOf(row))
    if (same !== undefined && sourceOf(same) === sourceOf(row)) page.items[i] = same
  }
}

/** Returns the creation time of the newest row. Returns an empty string for an empty list. */
export function newestAt<Row>({ pages }: Pages<Row>, madeAt: (row: Row) => string): string {
  let newest = ''
  for (const { items } of pages) for (const row of items) if (madeAt(row) > newest) newest = madeAt(row)
  return newest
}
