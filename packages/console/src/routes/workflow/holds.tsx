// The limits of a workflow that runs hold or wait for, and its open buffers of events.

import { type Item, itemsOf, usePages, useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { isLimit, type Limit } from '../limits/limit.ts'

type Buffer = Item<'listBuffers'>

/** Number of buffers shown, the soonest due first. */
const BUFFERS_SHOWN = 10
/** Number of limits shown, those with the most waiting runs first. */
const LIMITS_SHOWN = 10

interface Hold {
  id: string
  kind: string
  key: string | undefined
  use: string
  waiting: string
  since: string | undefined
  next: string | undefined
}

const COLUMNS: readonly Column<Hold>[] = [
  { id: 'kind', header: 'Limit or buffer', width: '22%', render: ({ kind }) => kind },
  { id: 'key', header: 'Key', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  { id: 'use', header: 'In use', width: '120px', render: ({ use }) => use },
  { id: 'waiting', header: 'Waiting', width: '120px', render: ({ waiting }) => waiting },
  { id: 'since', header: 'Oldest', width: '112px', align: 'end', render: ({ since }) => <Moment at={since} /> },
  {
    id: 'next',
    header: 'Next start',
    width: '112px',
    align: 'end',
    isSecondary: true,
    render: ({ next }) => <Moment at={next} />,
  },
]

/** Shows nothing while no run waits or has a slot, and no event waits for others. */
export function Holds({ app, workflow }: { app: string; workflow: string }) {
  const limits = useRead('listLimits', { app, workflow, limit: LIMITS_SHOWN }).data ?? []
  const buffers = itemsOf(usePages('listBuffers', { app, workflow, limit: BUFFERS_SHOWN }))
  const rows = [...limits.filter(isLimit).map(ofLimit), ...buffers.slice(0, BUFFERS_SHOWN).map(ofBuffer)]
  if (rows.length === 0) return null
  return (
    <Panel
      title="Limits and buffers in use"
      isFlush
      actions={<Link target={{ to: 'limits', query: { app, workflow } }}>All limits</Link>}
    >
      <DataTable label="Limits and buffers of the workflow" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
    </Panel>
  )
}

function ofLimit(limit: Limit): Hold {
  const { kind, scope, key, oldestAt } = limit
  const id = [kind, scope, key].join('\n')
  const name = scope === 'workflow' ? kind : `${scope} ${kind}`
  if (limit.kind === 'throttle') {
    const use = `${limit.limit} in ${durationText(limit.periodMs)}`
    return { id, kind: name, key, use, waiting: runs(limit.inLine), since: oldestAt, next: limit.nextStartAt }
  }
  const use = `${limit.held} of ${limit.limit}`
  return { id, kind: name, key, use, waiting: runs(limit.waiting), since: oldestAt, next: undefined }
}

function ofBuffer({ id, kind, key, count, maxSize, firstAt, dueAt }: Buffer): Hold {
  const use = maxSize === undefined ? '' : `${count} of ${maxSize}`
  return { id, kind, key, use, waiting: `${count} ${count === 1 ? 'event' : 'events'}`, since: firstAt, next: dueAt }
}

const runs = (count: number | string) => (count === 0 ? '' : `${count} ${count === 1 ? 'run' : 'runs'}`)
