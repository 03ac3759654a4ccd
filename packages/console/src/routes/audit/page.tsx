// The audit log: who did what, and to which run.

import { cutText } from '@perdure/protocol/portable'
import { type Item, itemsOf, renew, usePages } from '../../data/queries.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty } from '../../ui/states/empty.tsx'
import { activeFilters, windowFields } from '../../ui/states/filter-fields.ts'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { isAbout, restOf, targetOf } from './targets.ts'

/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 10_000

type Entry = Item<'listControlActions'>

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'when', header: 'Time', width: '112px', render: ({ createdAt }) => <Moment at={createdAt} /> },
  { id: 'action', header: 'Action', width: '140px', render: ({ action }) => action },
  {
    id: 'actor',
    header: 'Actor',
    width: '9%',
    render: ({ actor }) => (actor === undefined ? '' : <Visible text={cutText(actor, 128)} />),
  },
  { id: 'on', header: 'Target', width: '284px', render: entry => <On entry={entry} /> },
  { id: 'run', header: 'Run', width: '176px', render: entry => <Runs entry={entry} /> },
  { id: 'detail', header: 'Details', isSecondary: true, render: entry => <Detail entry={entry} /> },
]

export default function AuditPage() {
  const [get, set] = useQuery('audit')
  const [action, runId, actor, target] = [get('action'), get('run'), get('actor'), get('target')]
  const [since, until] = [get('since'), get('until')]
  const [from, end] = [useTime(since), useTime(until)]
  const query = usePages('listControlActions', {
    // The engine does not search details: with a target, the page reads through the log.
    limit: target === undefined ? 100 : 1000,
    action: action as Entry['action'],
    runId,
    actor,
    since: from,
    until: end,
  })
  const entries = itemsOf(query)
  // Older pages stay as they are, because a renewal reads all pages again.
  useRenewal(() => renew('listControlActions'), { afterMs: RENEWAL_MS, enabled: (query.data?.pages.length ?? 0) <= 1 })
  const seen = [...new Set(entries.map(({ action }) => action))].sort()
  const filters = activeFilters(['action', 'run', 'actor', 'since', 'until', 'target'], get, set)
  return (
    <Page title="Audit">
      <FilterBar
        label="Filter the audit log"
        fields={[
          { name: 'action', label: 'Action', value: action, known: seen, onChange: action => set({ action }) },
          { name: 'actor', label: 'Actor', value: actor, onChange: actor => set({ actor }) },
          { name: 'run', label: 'Run', value: runId, onChange: run => set({ run }) },
          { name: 'target', label: 'ID', value: target, onChange: target => set({ target }) },
          ...windowFields({ since, until }, set),
        ]}
      />
      <Panel isFlush>
        <PagedTable
          label="Audit entries"
          query={query}
          rowsOf={page => page.items.filter(entry => target === undefined || isAbout(entry, target))}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          filters={filters}
          what="actions"
          empty={
            <Empty title="No audit entries yet">
              <p>
                Cancels, pauses, replays, and changes to webhooks, schedules and keys appear here, each with its actor.
              </p>
            </Empty>
          }
        />
      </Panel>
    </Page>
  )
}

function lookAt({ action, actor, createdAt, detail }: Entry): Look {
  return {
    head: (
      <>
        <b>{action}</b> {actor !== undefined && shortName(actor)}
      </>
    ),
    body: (
      <>
        <PeekPart name="Time" text={exactTime(Date.parse(createdAt))} />
        <PeekPart name="Details" text={detail === undefined ? undefined : JSON.stringify(detail, undefined, 2)} />
      </>
    ),
  }
}

function On({ entry }: { entry: Entry }) {
  const on = targetOf(entry)
  if (!on) return null
  const text = <Visible text={cutText(on.text, 128)} />
  if (on.target === undefined) return text
  return (
    <Link target={on.target} title={on.text}>
      {text}
    </Link>
  )
}

function Runs({ entry: { runId, newRunId } }: { entry: Entry }) {
  const link = (id: string) => (
    <Link target={{ to: 'run', params: { id } }} title={id}>
      …{id.slice(-8)}
    </Link>
  )
  if (runId === undefined) return newRunId === undefined ? null : link(newRunId)
  return (
    <>
      {link(runId)}
      {newRunId !== undefined && <> → {link(newRunId)}</>}
    </>
  )
}

const DETAIL_MAX = 300
const BULK_ID = /^blk_\w{1,64}$/

/** The detail, without the name that the column On shows. */
function Detail({ entry }: { entry: Entry }) {
  const rest = restOf(entry)
  if (rest === undefined) return null
  const { bulkId } = rest
  if (typeof bulkId === 'string' && BULK_ID.test(bulkId))
    return <Link target={{ to: 'bulk', params: { id: bulkId } }}>{bulkId}</Link>
  const words = countsText(rest) ?? changeText(rest)
  if (words !== undefined)
    return (
      <span title={words}>
        <Visible text={cutText(words, DETAIL_MAX)} />
      </span>
    )
  const text = cutText(JSON.stringify(rest), DETAIL_MAX)
  return (
    <code title={text}>
      <Visible text={text} />
    </code>
  )
}

/** The members of a detail that are counts, in display order, each with its word. */
const COUNTS = {
  matched: 'matched',
  done: 'done',
  replayed: 'replayed',
  queued: 'requeued',
  redriven: 'redriven',
  skipped: 'skipped',
  failed: 'failed',
} as const

/** Returns the counts of an action on many runs, events or deliveries that the engine wrote. */
function countsText({ status, capped, ...rest }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof rest.matched !== 'number') return undefined
  const counts = Object.entries(COUNTS).flatMap(([name, word]) =>
    typeof rest[name] === 'number' ? [`${rest[name]} ${word}`] : [],
  )
  const head = typeof status === 'string' ? `${status}: ` : ''
  return `${head}${counts.join(', ')}${capped === true ? ', the most for one call' : ''}`
}

/** Describes a change of an endpoint or a receiver. */
function changeText({
  changed,
  rotatedSecret,
  revokedOldSecrets,
}: Readonly<Record<string, unknown>>): string | undefined {
  const parts = [
    ...(rotatedSecret === true ? ['rotated the secret'] : []),
    ...(revokedOldSecrets === true ? ['ended the old secrets'] : []),
    ...(Array.isArray(changed) && changed.length > 0 ? [`changed ${changed.join(', ')}`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join('; ')
}
