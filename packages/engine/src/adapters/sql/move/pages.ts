// Reads a table in the order of its key, in pages that fit into memory whatever the rows contain. Called for the copy and for
// the comparison afterwards.

import type { Row, Value } from '../description/values.ts'
import type { CopiedTable } from './copied-tables.ts'
import type { MoveSide } from './side.ts'

const ROWS_MAX = 1000
/** A page has at least one row, however long. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024

export interface PageBounds {
  rowsMax?: number | undefined
}

/** The pages behind the row with the key `after`; all pages without it. */
export async function* pagesOf(
  side: MoveSide,
  table: CopiedTable,
  after?: readonly Value[],
  { rowsMax = ROWS_MAX }: PageBounds = {},
): AsyncGenerator<Row[]> {
  const { name, columns, key } = table
  const keyList = key.join(', ')
  const sizes = columns.filter(({ type }) => type === 'text').map(column => `coalesce(octet_length(${column.name}), 0)`)
  const size = ['0', ...sizes].join(' + ')
  const select = `SELECT ${columns.map(column => column.name).join(', ')} FROM ${name}`
  for (let from = after; ; ) {
    const behind = from ? [comparison(key, '>')] : []
    const where = (...conditions: string[]) => (conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '')
    const params = [...(from ?? [])]
    const sized = `SELECT ${keyList}, ${size} FROM ${name}${where(...behind)} ORDER BY ${keyList} LIMIT ${rowsMax}`
    const last = lastOfPage(await side.rows(sized, params))
    if (!last) return
    const page = `${select}${where(...behind, comparison(key, '<='))} ORDER BY ${keyList}`
    yield await side.rows(page, [...params, ...last])
    from = last
  }
}

/** The key of a row of the table. */
export function keyOf({ columns, key }: CopiedTable, row: Row): Value[] {
  return key.map(name => row[columns.findIndex(column => column.name === name)] as Value)
}

/** The key of the last row that fits into the page. */
function lastOfPage(rows: readonly Row[]): Value[] | undefined {
  let bytes = 0
  let last: Row | undefined
  for (const row of rows) {
    bytes += row.at(-1) as number
    if (last && bytes > PAGE_BYTES_MAX) break
    last = row
  }
  return last?.slice(0, -1)
}

function comparison(key: readonly string[], operator: '>' | '<='): string {
  return `(${key.join(', ')}) ${operator} (${key.map(() => '?').join(', ')})`
}
