// The names of the newest events with their counts, above the log: each name works as a filter.

import { itemsOf, usePages } from '../../data/queries.ts'
import { useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { shortName } from '../../ui/visible-text.ts'
import { byCount } from './by-count.ts'
import css from './events.module.css'

const SHOWN_MAX = 8
const STALE_MS = 30_000
const DEFAULT_WINDOW = '24h'

export function NameFacets() {
  const [get, set] = useQuery('events')
  const [name, since = DEFAULT_WINDOW] = [get('name'), get('since')]
  // The list has filters that the counts do not support.
  const isNarrowed = (['app', 'source', 'until'] as const).some(filter => get(filter) !== undefined)
  const from = useTime(since)
  const names = usePages(
    'listEventNames',
    { since: from, limit: 200 },
    { staleMs: STALE_MS, enabled: from !== undefined },
  )
  const found = byCount(itemsOf(names))
  const shown = found.filter((each, i) => i < SHOWN_MAX || each.name === name)
  if (shown.length === 0) return null
  return (
    <fieldset className={css.facets}>
      <legend>
        {since.length > 4 ? 'Names since the start time' : `Names in ${since}`}
        {isNarrowed && ', ignoring other filters'}
      </legend>
      {shown.map(each => (
        <Button
          key={each.name}
          kind="bare"
          aria-pressed={each.name === name}
          title={shortName(each.name)}
          onClick={() => set({ name: each.name === name ? undefined : each.name })}
        >
          <span className="one-line">{shortName(each.name)}</span> <small>{each.count}</small>
        </Button>
      ))}
      {found.length > shown.length && <small>{found.length - shown.length} more</small>}
    </fieldset>
  )
}
