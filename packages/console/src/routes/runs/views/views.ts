// Saved views of the list of runs: named queries, in this browser's storage, as JSON that can be passed to others.

import { browserStorage } from '../../../data/storage/storage.ts'

const STORED = 'perdure.runs.views'
const VIEWS_MAX = 100
export const NAME_CHARS_MAX = 80
const QUERY_CHARS_MAX = 2000

/** A query of the list with a name: `status=failed&since=24h`. */
export interface View {
  name: string
  query: string
}

/** Returns the stored views that can be read: an unreadable one does not affect the others. */
export function storedViews(): View[] {
  try {
    const found: unknown = JSON.parse(browserStorage.getItem(STORED) ?? '[]')
    return Array.isArray(found) ? found.filter(isView) : []
  } catch {
    return []
  }
}

export function storeViews(views: readonly View[]): void {
  browserStorage.setItem(STORED, JSON.stringify(views))
}

/** Reads views from JSON that anybody may have written. Throws an Error with a sentence for the user. */
export function readViews(text: string): View[] {
  const found: unknown = parsed(text)
  const views = Array.isArray(found) && found.every(isView) ? found.map(asKept) : []
  if (!Array.isArray(found) || views.length < found.length || !views.every(isView))
    throw new Error(`It must be a list of {"name", "query"}, the query of at most ${QUERY_CHARS_MAX} characters.`)
  if (views.length > VIEWS_MAX) throw new Error(`At most ${VIEWS_MAX} views can be saved.`)
  return views
}

/** Converts the query to the form of the address, which may be longer. */
const asKept = ({ name, query }: View): View => ({ name, query: new URLSearchParams(query).toString() })

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error('This is not JSON.', { cause: error })
  }
}

function isView(value: unknown): value is View {
  const { name, query } = (value ?? {}) as Partial<View>
  return (
    typeof name === 'string' &&
    name.trim() !== '' &&
    name.length <= NAME_CHARS_MAX &&
    typeof query === 'string' &&
    query.length <= QUERY_CHARS_MAX
  )
}

/** Returns the views merged with `more`; a view replaces one of the same name. */
export function withViews(views: readonly View[], more: readonly View[]): View[] {
  const byName = new Map([...views, ...more].map(view => [view.name, view]))
  return [...byName.values()].slice(-VIEWS_MAX)
}
