// The list of runs: filters in the URL, live rows, selection.

import { useMemo, useState } from 'react'
import { useLive } from '../../live/use-live.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { useNavigate, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { DataTable } from '../../ui/table/data-table.tsx'
import { DEFAULT_COLUMNS, OPTIONAL_COLUMNS, type Run, runColumns, type SortKey } from './columns.tsx'
import { activeFilters, FilterBox } from './filter-box.tsx'
import { listInput } from './query.ts'
import styles from './runs.module.css'
import { Selected } from './selected.tsx'
import { useRunList } from './use-run-list.ts'

const NONE: ReadonlySet<string> = new Set()
/** Rows that are read by scrolling; more are read when asked. */
const ROWS_MAX = 5000
const keyOf = (run: Run) => run.id

export default function RunsPage() {
  const navigate = useNavigate()
  const [get, set] = useQuery('runs')
  const [selected, setSelected] = useState(NONE)
  const [isChoosing, setChoosing] = useState(false)
  const { isPaused } = useLive()
  const isSorted = (get('sort') ?? 'started') !== 'started' || get('dir') === 'asc'
  // A relative window begins anew only when the URL changes.
  const input = useMemo(() => listInput(get), [get])
  const { query, runs, news, readAgain } = useRunList(input, { isHeld: isPaused || isSorted || selected.size > 0 })
  const shown = get('cols')?.split(',') ?? DEFAULT_COLUMNS
  const columns = useColumns(runs, shown, get, set)
  const filters = activeFilters(get, set)
  // A page with fewer rows than asked for is that of a search that stopped at its time limit: it goes on when asked.
  const isWhole = query.data?.pages.at(-1)?.items.length === input.limit
  return (
    <Page title="Runs" actions={<Button onClick={() => setChoosing(true)}>Columns</Button>}>
      <FilterBox get={get} set={set} />
      <Panel isFlush>
        {news > 0 && (
          <button type="button" className={styles.news} onClick={readAgain}>
            ▲ {news} new
          </button>
        )}
        <Loaded query={query} rows={12}>
          {() =>
            runs.length === 0 && !query.hasNextPage ? (
              <NoRuns filters={filters} />
            ) : (
              <DataTable
                label="Runs"
                columns={columns}
                rows={runs}
                keyOf={keyOf}
                hasMore={isWhole && query.hasNextPage && runs.length < ROWS_MAX}
                isLoadingMore={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
                onOpen={({ id }) => navigate({ to: 'run', params: { id } })}
                selection={{ keys: selected, onChange: setSelected }}
              />
            )
          }
        </Loaded>
        {!(isWhole && runs.length < ROWS_MAX) && <GoOn runs={runs} query={query} />}
      </Panel>
      {selected.size > 0 && (
        <Selected runs={runs.filter(run => selected.has(run.id))} onClear={() => setSelected(NONE)} />
      )}
      {isChoosing && <ColumnDialog shown={shown} onChange={cols => set({ cols })} onClose={() => setChoosing(false)} />}
    </Page>
  )
}

type Query = ReturnType<typeof useQuery<'runs'>>

function useColumns(runs: readonly Run[], shown: readonly string[], get: Query[0], set: Query[1]) {
  const sort = (get('sort') ?? 'started') as SortKey
  const dir = get('dir') === 'asc' ? 'asc' : 'desc'
  const longMs = useMemo(() => p95(runs.flatMap(({ durationMs }) => durationMs ?? [])), [runs])
  const onSort = (key: SortKey) =>
    set({ sort: key === 'started' ? undefined : key, dir: key === sort && dir === 'desc' ? 'asc' : undefined })
  return runColumns(shown, { key: sort, dir, onSort }, longMs)
}

function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0
}

/** No row: because of the filters, or because no run was ever started. */
function NoRuns({ filters }: { filters: ReturnType<typeof activeFilters> }) {
  if (filters.length > 0) return <FilteredEmpty what="runs" filters={filters} />
  return (
    <Empty title="No run yet">
      <p>A run starts when an event arrives that a workflow names as its trigger. These lines make the first one.</p>
      <Snippet text={FIRST_RUNNER} />
      <Snippet text={FIRST_EVENT} />
    </Empty>
  )
}

const FIRST_RUNNER = `npm create perdure@latest my-app
cd my-app && ENGINE_URL=${ENGINE_URL} npm run worker`
const FIRST_EVENT = `curl ${ENGINE_URL}/events -H 'content-type: application/json' \\
  -d '{"name": "user.signed-up", "data": {"name": "Ada"}}'`

interface GoOnProps {
  runs: readonly Run[]
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }
}

/** A search that stopped at its time limit with few rows: says how far it came, and goes on when asked. */
function GoOn({ runs, query }: GoOnProps) {
  if (!query.hasNextPage) return null
  const last = runs.at(-1)
  const back = last === undefined ? '' : ` back to ${new Date(last.createdAt).toLocaleString()}`
  return (
    <div className={styles.more}>
      <span>
        {runs.length} found{back}.
      </span>
      <Button onClick={() => void query.fetchNextPage()}>{query.isFetchingNextPage ? 'Looking…' : 'Go on'}</Button>
    </div>
  )
}

interface ColumnDialogProps {
  shown: readonly string[]
  onChange(cols: string): void
  onClose(): void
}

function ColumnDialog({ shown, onChange, onClose }: ColumnDialogProps) {
  const toggle = (name: string) => {
    const next = OPTIONAL_COLUMNS.filter(each => shown.includes(each) !== (each === name))
    onChange(next.length === 0 ? 'none' : next.join(','))
  }
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div className={styles.columns}>
        {OPTIONAL_COLUMNS.map(name => (
          <label key={name}>
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
      </div>
    </Dialog>
  )
}
