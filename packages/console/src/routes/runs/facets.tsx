// The facets next to the list: how many runs there are by status, workflow, app and kind of wait, in the window of the list. A
// count works as a filter. The counts come from statistics, so they cost no search.

import type { Input } from '@perdure/client'
import type { RunFilterName } from '@perdure/protocol'
import { useMemo } from 'react'
import { useRead } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { countedUntil } from '../../data/time/counted.ts'
import type { useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { grouped } from './bulk/actions.ts'
import styles from './facets.module.css'
import type { ListInput, NotOfPage } from './query.ts'

const SHOWN_MAX = 8
const STALE_MS = 30_000

type Query = ReturnType<typeof useQuery<'runs'>>

export interface FacetsProps {
  input: ListInput
  get: Query[0]
  set: Query[1]
}

interface Facet {
  name: 'status' | 'workflow' | 'app' | 'waiting'
  title: string
  counts: readonly (readonly [value: string, runs: number])[]
}

/** The filters of the page that the counts do not support. `deep` belongs to `q`. */
type Uncounted = Exclude<RunFilterName, NotOfPage | keyof Input<'getRunFacets'> | 'deep'>
const UNCOUNTED: { readonly [Name in Uncounted]: string } = {
  q: 'text',
  runType: 'type',
  endedSince: 'end time',
  endedUntil: 'end time',
  error: 'error',
  parentRunId: 'parent',
  root: 'root runs',
  bulkId: 'bulk job',
  key: 'key',
  attribute: 'attribute',
}

export default function Facets({ input, get, set }: FacetsProps) {
  const { since, until, app, workflow, status, waitingFor } = input
  const isPattern = workflow !== undefined && /.\*$/su.test(workflow)
  const end = useMemo(() => endOf(since !== undefined, until?.toString()), [since, until])
  const given = Object.entries({ since, until: end, app, workflow, status, waitingFor }).filter(
    ([, value]) => value !== undefined,
  )
  // The engine counts for one workflow, or for all.
  const { data } = useRead('getRunFacets', Object.fromEntries(given), { staleMs: STALE_MS, enabled: !isPattern })
  if (!data || isPattern) return null
  const isGiven = ([name]: [string, string]) => input[name as Uncounted] !== undefined
  const uncounted = new Set(
    Object.entries(UNCOUNTED)
      .filter(isGiven)
      .map(([, word]) => word),
  )
  const facets: Facet[] = [
    { name: 'status', title: 'Status', counts: Object.entries(asFiltered(data.status)) },
    { name: 'waiting', title: 'Waiting for', counts: Object.entries(data.waitingFor) },
    { name: 'workflow', title: 'Workflow', counts: byName(data.workflow.map(each => [each.workflow, each.runs])) },
    { name: 'app', title: 'App', counts: data.app.map(each => [each.app, each.runs] as const) },
  ]
  return (
    <aside className={styles.facets} aria-label="Facets">
      {facets.map(facet => (
        <FacetList
          key={facet.name}
          facet={facet}
          value={get(facet.name)}
          onChange={value => set({ [facet.name]: value }, { push: true })}
        />
      ))}
      {uncounted.size > 0 && <small>Counts ignore {[...uncounted].join(', ')}</small>}
    </aside>
  )
}

/** A list without an end grows with the time. */
const AHEAD_MS = 86_400_000

/**
 * Returns the end of the counts, not before the end of the list. With an end, the counts include the runs in flight that were
 * created in the window, which are the ones in the list; without a beginning, they include all.
 */
function endOf(hasBeginning: boolean, until: string | undefined): string | undefined {
  if (until === undefined && !hasBeginning) return undefined
  return countedUntil(until ?? new Date(engineNow() + AHEAD_MS).toISOString())
}

interface FacetListProps {
  facet: Facet
  value: string | undefined
  onChange(value: string | undefined): void
}

function FacetList({ facet: { name: parameter, title, counts }, value, onChange }: FacetListProps) {
  const labelOf = (name: string) => (parameter === 'status' && name === 'running' ? 'active' : shortName(name))
  const shown = counts.filter(([name, runs]) => runs > 0 || name === value).sort(([, a], [, b]) => b - a)
  if (shown.length === 0) return null
  return (
    <fieldset className={styles.facet}>
      <legend>{title}</legend>
      {shown.slice(0, SHOWN_MAX).map(([name, runs]) => (
        <Button
          key={name}
          kind="bare"
          aria-pressed={value === name}
          title={labelOf(name)}
          onClick={() => onChange(value === name ? undefined : name)}
        >
          <span className="one-line">{labelOf(name)}</span> <small>{grouped(runs)}</small>
        </Button>
      ))}
      {shown.length > SHOWN_MAX && <small>{shown.length - SHOWN_MAX} more</small>}
    </fieldset>
  )
}

/** The filter `running` also finds runs that wait, so its count includes both. */
function asFiltered(status: Readonly<Record<string, number>>): Record<string, number> {
  return { ...status, running: (status.running ?? 0) + (status.waiting ?? 0) }
}

/** Workflows of several apps may have the same name, and the list filters by name. */
function byName(counts: readonly (readonly [string, number])[]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [name, runs] of counts) sums.set(name, (sums.get(name) ?? 0) + runs)
  return [...sums]
}
