// The values of the attributes shown as columns, with their counts in the loaded rows: each value works as a filter.

import { Button } from '../../ui/button.tsx'
import { useVeil } from '../../ui/veil.ts'
import { shortName } from '../../ui/visible-text.ts'
import { attributeCounts, attributesOf, toggledAttribute } from './attribute-counts.ts'
import type { GetFilter, SetFilters } from './box/filter-box.tsx'
import type { Run } from './columns.tsx'
import styles from './facets.module.css'

export interface AttributeFacetsProps {
  keys: readonly string[]
  runs: readonly Run[]
  get: GetFilter
  set: SetFilters
}

export default function AttributeFacets({ keys, runs, get, set }: AttributeFacetsProps) {
  const { isHidden } = useVeil()
  const chosen = attributesOf(get('attribute'))
  // Values may be parts of inputs.
  if (isHidden) return null
  return keys.map(key => {
    const counts = attributeCounts(runs, key, chosen)
    if (counts.length === 0) return null
    return (
      <fieldset key={key} className={styles.values}>
        <legend>{`${shortName(key)}, in the ${runs.length} loaded runs`}</legend>
        {counts.map(({ filter, value, runs: count }) => (
          <Button
            key={filter}
            kind="bare"
            aria-pressed={chosen.includes(filter)}
            onClick={() => set({ attribute: toggledAttribute(get('attribute'), filter) }, { push: true })}
          >
            {shortName(value)} <small>{count}</small>
          </Button>
        ))}
      </fieldset>
    )
  })
}
