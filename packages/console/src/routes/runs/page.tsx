// The list of runs: filters in the URL, live rows, selection.

import { lazy, Suspense, useDeferredValue, useMemo, useState } from 'react'
import { engineNow } from '../../data/time/clock.ts'
import { useUtc } from '../../data/time/zone.ts'
import { useKeys } from '../../keys/keys.ts'
import { useLive } from '../../live/use-live.ts'
import { currentLocation, keep, kept } from '../../router/history.ts'
import { useNavigate, useQuery } from '../../router/router.tsx'
import { News } from '../../ui/live-list/news.tsx'
import { useWide } from '../../ui/media.ts'
import { useSelection } from '../../ui/selection/use-selection.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { DataTable } from '../../ui/table/data-table.tsx'
import { usePeek } from '../../ui/table/use-peek.ts'
import { attributeKeys } from './attribute-keys.ts'
import { FilterBox, type GetFilter, type SetFilters } from './box/filter-box.tsx'
import { type Run, runColumns, type SortKey } from './columns.tsx'
import { useLook } from './look.ts'
import { type ListInput, listInput } from './query.ts'
import styles from './runs.module.css'
import { useRunList } from './use-run-list.ts'
import { ViewMenu } from './view-menu.tsx'

const AttributeFacets = lazy(() => import('./attribute-facets.tsx'))
const Facets = lazy(() => import('./facets.tsx'))
const GoOn = lazy(() => import('./go-on.tsx'))
const Nothing = lazy(() => import('./no-runs.tsx'))
const Peek = lazy(() => import('./peek.tsx'))
const RowMenu = lazy(() => import('./row-menu.tsx'))
const SelectionBar = lazy(() => import('./bulk/selection-bar.tsx'))

/** Maximum number of rows read by scrolling; more are read on request. */
const ROWS_MAX = 5000
const keyOf = (run: Run) => run.id

export default function RunsPage() {
  const navigate = useNavigate()
  const [get, set] = useQuery('runs')
  const input = useInput(get)
  const { selected, setSelected, clear } = useSelection(input)
  const { isPaused } = useLive()
  const isSorted = (get('sort') ?? 'started') !== 'started' || get('dir') === 'asc'
  const { query, runs, news, readAgain, reports } = useRunList(input, {
    isFrozen: isPaused || isSorted || selected.size > 0,
  })
  const look = useLook(get, set)
  const keys = attributeKeys(look.columns)
  const columns = useColumns({ runs, shown: look.columns, reports }, get, set)
  const showsFacets = useRoomForFacets(query.data !== undefined)
  const [menu, setMenu] = useState<{ run: Run; anchor: HTMLElement }>()
  useKeys('Runs', selected.size > 0 ? [{ keys: 'Escape', label: 'Clear the selection', run: clear }] : [])
  // Registered after the keys of the selection, so that Escape first closes the preview.
  const peek = usePeek(runs, keyOf)
  const last = query.data?.pages.at(-1)
  // A search that stopped at its time limit continues on request.
  const isPart = query.hasNextPage && (last?.scannedTo !== undefined || last?.items.length !== input.limit)
  const hasMore = query.hasNextPage && !isPart && runs.length < ROWS_MAX
  return (
    <Page title="Runs" actions={<ViewMenu look={look} input={input} />}>
      <FilterBox get={get} set={set} />
      <Suspense>{keys.length > 0 && <AttributeFacets {...{ keys, runs, get, set }} />}</Suspense>
      <div className={styles.beside}>
        {showsFacets && (
          <Suspense>
            <Facets input={input} get={get} set={set} />
          </Suspense>
        )}
        <Panel isFlush>
          <News count={news} onRead={readAgain} />
          <Loaded query={query} rows={12}>
            {() =>
              runs.length === 0 && !query.hasNextPage ? (
                <NoRuns get={get} set={set} />
              ) : (
                <DataTable
                  label="Runs"
                  columns={columns}
                  rows={runs}
                  keyOf={keyOf}
                  isDense={look.isDense}
                  hasMore={hasMore}
                  isLoadingMore={query.isFetchingNextPage}
                  onMore={() => void query.fetchNextPage()}
                  onPeek={peek.show}
                  onActive={peek.follow}
                  onMenu={(run, anchor) => setMenu({ run, anchor })}
                  onOpen={({ id }) => navigate({ to: 'run', params: { id } })}
                  selection={{ keys: selected, onChange: setSelected }}
                />
              )
            }
          </Loaded>
          <Suspense>
            {query.hasNextPage && !hasMore && <GoOn count={runs.length} last={runs.at(-1)} query={query} />}
          </Suspense>
        </Panel>
      </div>
      {/* A boundary for each: while a script loads, everything within the same boundary is hidden. */}
      <Suspense>{peek.row && <Peek key={peek.row.id} run={peek.row} isPinned={peek.isPinned} />}</Suspense>
      <Suspense>{menu && <RowMenu {...menu} onClose={() => setMenu(undefined)} />}</Suspense>
      {selected.size > 0 && (
        <Suspense>
          <SelectionBar
            key={JSON.stringify(input)}
            runs={runs.filter(run => selected.has(run.id))}
            ids={[...selected]}
            input={input}
            onClear={clear}
          />
        </Suspense>
      )}
    </Page>
  )
}

type Query = ReturnType<typeof useQuery<'runs'>>

/** Whether the facets are shown: only on a wide screen, and only after the first rows. */
function useRoomForFacets(hasRows: boolean): boolean {
  const isWide = useWide()
  return useDeferredValue(hasRows) && isWide
}

function NoRuns(props: { get: GetFilter; set: SetFilters }) {
  return (
    <Suspense>
      <Nothing {...props} />
    </Suspense>
  )
}

/**
 * Returns the input of the list. A relative window is computed again when the URL changes, and stays unchanged on the way back.
 */
function useInput(get: Query[0]): ListInput {
  const isUtc = useUtc()
  // biome-ignore lint/correctness/useExhaustiveDependencies: days begin at other times in the other zone.
  return useMemo(() => {
    const nowMs = (currentLocation().cause === 'back' ? kept<number>('now') : undefined) ?? engineNow()
    keep('now', nowMs)
    return listInput(get, nowMs)
  }, [get, isUtc])
}

interface Shown {
  runs: readonly Run[]
  shown: readonly string[]
  reports: number
}

/** Returns the columns: the same objects until they show something else, so that unchanged rows are not rendered. */
function useColumns({ runs, shown, reports }: Shown, get: Query[0], set: Query[1]) {
  const sort = (get('sort') ?? 'started') as SortKey
  const dir = get('dir') === 'asc' ? 'asc' : 'desc'
  const longMs = useMemo(() => p95(runs.flatMap(({ durationMs }) => durationMs ?? [])), [runs])
  const names = shown.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: cells show the progress that was reported.
  return useMemo(() => {
    const onSort = (key: SortKey) =>
      set({ sort: key === 'started' ? undefined : key, dir: key === sort && dir === 'desc' ? 'asc' : undefined })
    return runColumns(names.split(','), { key: sort, dir, onSort }, longMs)
  }, [names, sort, dir, longMs, set, reports])
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0
}
