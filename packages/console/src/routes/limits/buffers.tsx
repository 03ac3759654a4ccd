// The open buffers of debounce and batch on the page of limits: events that wait to become one run, and a way to start it at
// once.

import { type Item, usePages } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { Link } from '../../router/router.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ConfirmButton } from '../../ui/overlay/confirm-button.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { type ActiveFilter, Empty, Snippet } from '../../ui/states/empty.tsx'
import { Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { Visible } from '../../ui/visible.tsx'

type Buffer = Item<'listBuffers'>

const COLUMNS: readonly Column<Buffer>[] = [
  { id: 'of', header: 'Workflow', width: '22%', render: buffer => <Of buffer={buffer} /> },
  { id: 'key', header: 'Key', width: '18%', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  { id: 'count', header: 'Events', width: '84px', align: 'end', render: buffer => eventsOf(buffer) },
  { id: 'first', header: 'Oldest', width: '112px', align: 'end', render: ({ firstAt }) => <Moment at={firstAt} /> },
  { id: 'due', header: 'Due', width: '112px', align: 'end', render: ({ dueAt }) => <Moment at={dueAt} /> },
  { id: 'last', header: 'Newest event', isSecondary: true, render: buffer => <Newest buffer={buffer} /> },
  { id: 'acts', header: 'Actions', width: '134px', render: buffer => <Flush buffer={buffer} /> },
]

const eventsOf = ({ count, maxSize }: Buffer) => (maxSize === undefined ? String(count) : `${count} of ${maxSize}`)

interface BuffersProps {
  app: string | undefined
  workflow: string | undefined
  /** The key in the page's filter. */
  keyText: string | undefined
  filters: readonly ActiveFilter[]
}

export function Buffers({ app, workflow, keyText, filters }: BuffersProps) {
  const query = usePages('listBuffers', { app, workflow, limit: 100 })
  return (
    <Panel title="Debounce and batch" isFlush>
      <PagedTable
        isWhole
        label="Buffers"
        query={query}
        rowsOf={page => page.items.filter(({ key }) => keyText === undefined || key === keyText)}
        filters={filters}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        what="buffers"
        empty={
          <Empty title="No pending debounce or batch">
            <p>Events of a workflow with a debounce or a batch appear here until they become one run.</p>
            <Snippet text={"batch: { maxSize: 100, timeout: '30s', key: 'event.data.city' }"} />
          </Empty>
        }
      />
    </Panel>
  )
}

function Of({ buffer: { kind, app, workflow } }: { buffer: Buffer }) {
  return (
    <>
      <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>{' '}
      <span className="mute">
        {app}, {kind}
      </span>
    </>
  )
}

function Newest({ buffer: { eventName, lastEventId, lastAt } }: { buffer: Buffer }) {
  return (
    <Link target={{ to: 'event', params: { id: lastEventId } }} title={lastAt}>
      {eventName}
    </Link>
  )
}

function Flush({ buffer }: { buffer: Buffer }) {
  const { id, workflow, count } = buffer
  const flush = useWrite('flushBuffer', ['listBuffers', 'listLimits'])
  const start = () =>
    flush.mutate({ id }, { onSuccess: ({ runId }) => toast(`Started: ${runId}`), onError: toastError })
  return (
    <ConfirmButton
      label="Flush now…"
      button={{ startsRuns: true }}
      title="Flush now"
      action="Flush"
      call={{ id: 'flushBuffer', input: { id } }}
      onConfirm={start}
    >
      A run of {workflow} starts now, with {count === 1 ? 'the event' : `the ${count} events`} received so far.
    </ConfirmButton>
  )
}
