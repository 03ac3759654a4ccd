// The list of runs if it has no row.

import { Link } from '../../router/router.tsx'
import { VALUE_BREAK } from '../../router/routes.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { FirstRun } from '../../ui/states/first-run.tsx'
import type { GetFilter, SetFilters } from './box/filter-box.tsx'
import { NAMES_ALONE, qualified } from './box/qualifiers.ts'

/** Explains why there is no row: because of the filters, or because no run was ever started. */
export default function NoRuns({ get, set }: { get: GetFilter; set: SetFilters }) {
  const filters = activeFilters(get, set)
  if (filters.length > 0)
    return (
      <>
        <FilteredEmpty what="runs" filters={filters} />
        {get('q') && <NotSearched isOfNames={get('deep') === NAMES_ALONE} set={set} />}
      </>
    )
  return (
    <Empty title="No runs yet">
      <p>A run starts when an event matches a workflow's trigger. These commands start the first one.</p>
      <FirstRun />
    </Empty>
  )
}

/** Says where the text was searched, and offers to search the rest. */
function NotSearched({ isOfNames, set }: { isOfNames: boolean; set: SetFilters }) {
  return (
    <Empty title="Not searched">
      {isOfNames ? (
        <p>
          The search covered ids, workflows and apps.{' '}
          <Button onClick={() => set({ deep: undefined })}>Also search event names, attributes and payloads</Button>
        </p>
      ) : (
        <p>
          The search covered ids, names of workflows, apps and events, attributes, inputs, results and errors. It does
          not cover results of steps and log lines. Events that started no runs are listed only under{' '}
          <Link target={{ to: 'events' }}>events</Link>.
        </p>
      )}
    </Empty>
  )
}

/** Lists the active filters, each with a way to drop it. */
function activeFilters(get: GetFilter, set: SetFilters) {
  const all = qualified(get)
  const filters = all.map(filter => {
    const [name, value] = filter
    const kept = all.filter(each => each !== filter && each[0] === name).map(([, value]) => value)
    return { label: `${name}:${value}`, drop: () => set({ [name]: kept.join(VALUE_BREAK) }) }
  })
  const text = get('q')
  if (text) filters.push({ label: `text:${text}`, drop: () => set({ q: undefined }) })
  if (text && get('deep') === NAMES_ALONE) filters.push({ label: 'in:names', drop: () => set({ deep: undefined }) })
  return filters
}
