// Limits: the concurrency limits and throttles that runs hold or wait for, the longest wait first, with the runs that hold them;
// the limits that steps share; the live singletons; and the open buffers of debounce and batch.

import { useState } from 'react'
import { renew, useRead } from '../../data/queries.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { type ActiveFilter, Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { activeFilters, useWorkflowFields } from '../../ui/states/filter-fields.ts'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable, type Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { exactTime } from '../../ui/time.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { Buffers } from './buffers.tsx'
import { isLimit, type Limit, waitingOf } from './limit.ts'
import css from './limits.module.css'
import { LineDialog } from './line.tsx'
import { Singletons } from './singletons.tsx'
import { StepLimits } from './turns.tsx'

const COLUMNS: readonly Column<Limit>[] = [
  { id: 'of', header: 'Scope', width: '22%', render: limit => <Of limit={limit} /> },
  { id: 'key', header: 'Key', width: '18%', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  { id: 'use', header: 'In use', width: '150px', render: limit => <InUse limit={limit} /> },
  { id: 'waiting', header: 'Waiting', width: '84px', align: 'end', render: limit => <InLine limit={limit} /> },
  { id: 'rate', header: 'Released', width: '96px', align: 'end', isSecondary: true, render: rateOf },
  { id: 'oldest', header: 'Oldest', width: '112px', align: 'end', render: ({ oldestAt }) => <Moment at={oldestAt} /> },
  { id: 'holders', header: 'Held by, or next', render: limit => <Holders limit={limit} /> },
]

const RENEWAL_MS = 2000
/** Number of limits that are read: the engine's maximum. */
const LIMITS_READ = 200

/** Explains `hold: "run"`. */
const KEPT = 'A run keeps its slot until it ends'
const isKept = (limit: Limit) => limit.kind === 'concurrency' && limit.hold === 'run'

const keyOf = ({ kind, scope, app, workflow, key }: Limit) => [kind, scope, app, workflow, key].join('\n')

export default function LimitsPage() {
  const [get, set] = useQuery('limits')
  const [app, workflow, key] = [get('app'), get('workflow'), get('key')]
  const query = useRead('listLimits', { app, workflow, key, limit: LIMITS_READ })
  const fields = useWorkflowFields(get, set)
  useRenewal(() => renew('listLimits', 'listBuffers'), { afterMs: RENEWAL_MS, withEvents: true })
  const filters = activeFilters(['workflow', 'app', 'key'], get, set)
  return (
    <Page title="Limits">
      <FilterBar
        label="Filter limits"
        fields={[...fields, { name: 'key', label: 'Key', value: key, onChange: key => set({ key }) }]}
      />
      <Panel title="Concurrency and throttles" isFlush>
        <Loaded query={query}>
          {limits => <Limits limits={limits.filter(isLimit)} filters={filters} isCut={limits.length >= LIMITS_READ} />}
        </Loaded>
      </Panel>
      <StepLimits app={app} keyText={key} filters={filters} />
      <Singletons app={app} workflow={workflow} keyText={key} filters={filters} />
      <Buffers app={app} workflow={workflow} keyText={key} filters={filters} />
    </Page>
  )
}

interface LimitsProps {
  limits: readonly Limit[]
  filters: readonly ActiveFilter[]
  /** There may be more limits than were read. */
  isCut: boolean
}

function Limits({ limits, filters, isCut }: LimitsProps) {
  if (limits.length === 0 && filters.length > 0) return <FilteredEmpty what="limits" filters={filters} />
  if (limits.length === 0)
    return (
      <Empty title="No limits in use">
        <p>A limit appears here while a run holds one of its slots or waits for one.</p>
        <Snippet text={"concurrency: { limit: 5, key: 'event.data.customerId' }"} />
      </Empty>
    )
  return (
    <>
      {isCut && (
        <p className={css.note}>
          Showing the {LIMITS_READ} limits with the most waiting runs; there may be more. Filter by workflow, app or key
          to see others.
        </p>
      )}
      <WholeRows count={limits.length}>
        <ListTable
          label="Limits"
          columns={COLUMNS}
          rows={[...limits].sort((a, b) => ((a.oldestAt ?? '~') < (b.oldestAt ?? '~') ? -1 : 1))}
          keyOf={keyOf}
          look={lookAt}
        />
      </WholeRows>
    </>
  )
}

function lookAt(limit: Limit): Look {
  const holders =
    limit.kind === 'throttle'
      ? []
      : limit.holders.map(({ runId, startedAt }) =>
          startedAt === undefined ? runId : `${runId} since ${exactTime(Date.parse(startedAt))}`,
        )
  return {
    head: (
      <>
        <b>{shortName(limit.workflow ?? limit.app ?? 'the namespace')}</b> {limit.kind}
      </>
    ),
    body: (
      <>
        <PeekPart name="App" text={limit.workflow && limit.app} />
        <PeekPart name="Key" text={limit.key} />
        <PeekPart name="Slots" text={isKept(limit) ? KEPT : undefined} />
        <PeekPart name="Waiting" text={String(waitingOf(limit))} />
        <PeekPart name="Held by" text={holders.join('\n')} />
      </>
    ),
  }
}

function Of({ limit: { kind, scope, app, workflow } }: { limit: Limit }) {
  const name =
    app !== undefined && workflow !== undefined ? (
      <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>
    ) : (
      (app ?? 'the namespace')
    )
  return (
    <>
      {name} <span className="mute">{scope === 'workflow' ? `${app}, ${kind}` : `${scope} ${kind}`}</span>
    </>
  )
}

/** How many runs wait, and on request which ones: only those of this key. */
function InLine({ limit }: { limit: Limit }) {
  const [isOpen, setOpen] = useState(false)
  const count = waitingOf(limit)
  if (!count) return null
  return (
    <>
      <Button kind="bare" title="Waiting runs, longest wait first" onClick={() => setOpen(true)}>
        {count}
      </Button>
      {isOpen && <LineDialog limit={limit} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Shows how many slots are released per minute. A throttle has no such number: it lets runs start at its own rate. */
function rateOf(limit: Limit) {
  if (limit.kind === 'throttle' || limit.releasedPerMin === 0) return null
  return <span title="Runs that released a slot, per minute">{limit.releasedPerMin}/min</span>
}

function InUse({ limit }: { limit: Limit }) {
  if (limit.kind === 'throttle') return `${limit.limit} in ${durationText(limit.periodMs)}`
  const share = Math.min(1, limit.held / limit.limit)
  return (
    <span className={css.use} title={isKept(limit) ? KEPT : undefined}>
      <span className={css.track} aria-hidden="true">
        <span className={css.bar} style={{ width: `${100 * share}%` }} />
      </span>
      {limit.held} of {limit.limit}
    </span>
  )
}

function Holders({ limit }: { limit: Limit }) {
  if (limit.kind === 'throttle')
    return limit.nextStartAt === undefined ? null : (
      <span>
        next start <Moment at={limit.nextStartAt} />
      </span>
    )
  return (
    <span className={css.holders}>
      {limit.holders.map(({ runId, startedAt }) => (
        <span key={runId}>
          <Link target={{ to: 'run', params: { id: runId } }} title={runId}>
            …{runId.slice(-8)}
          </Link>{' '}
          <span className="mute">
            <Moment at={startedAt} />
          </span>
        </span>
      ))}
      <OtherHolders of={limit} />
    </span>
  )
}

/** The engine only names the oldest holders. */
function OtherHolders({ of: { app, workflow, held, holders } }: { of: Extract<Limit, { kind: 'concurrency' }> }) {
  if (held <= holders.length) return null
  return (
    <Link target={{ to: 'runs', query: { app, workflow, status: 'running' } }}>and {held - holders.length} more</Link>
  )
}
