// Reads the runs of a list page by page, for a file.

import type { Input, Page } from '@perdure/client'
import { type Item, readPage } from '../../../data/queries.ts'
import { CSV_HEAD, type Format, linesOf } from './csv.ts'

/** Maximum number of runs in a file. */
export const EXPORT_MAX = 20_000
const PAGE_ROWS = 200

export interface Exported {
  /** The parts of the file. */
  parts: readonly string[]
  count: number
  /** More runs match. */
  isCut: boolean
}

export interface ExportOptions {
  format: Format
  /** Called after each page, with the number of runs so far; false stops reading, and the runs read so far become the file. */
  onPage(count: number): boolean
}

export async function readAll(input: Input<'listRuns'>, { format, onPage }: ExportOptions): Promise<Exported> {
  const parts = format === 'csv' ? [CSV_HEAD] : []
  let count = 0
  let cursor: string | undefined
  // Positions in queues would be counted for each page.
  const list = { ...input, position: undefined }
  do {
    const limit = Math.min(PAGE_ROWS, EXPORT_MAX - count)
    const page: Page<Item<'listRuns'>> = await readPage('listRuns', { ...list, limit, cursor })
    parts.push(linesOf(page.items, format))
    count += page.items.length
    cursor = page.nextCursor
  } while (onPage(count) && cursor !== undefined && count < EXPORT_MAX)
  return { parts, count, isCut: cursor !== undefined }
}
