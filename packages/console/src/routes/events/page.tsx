// The event log, newest first: what arrived, and what it did.

import { sourceOf } from '../../data/json/parse.ts'
import { type Item, itemsOf, usePages } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { EffectChips } from './effect-chips.tsx'
import css from './events.module.css'

type EventRecord = Item<'listEvents'>

const PEEK_MAX = 200

const COLUMNS: readonly Column<EventRecord>[] = [
  {
    id: 'name',
    header: 'Event',
    width: '22%',
    render: ({ id, name }) => (
      <Link target={{ to: 'event', params: { id } }} title={name}>
        <Visible text={name} />
      </Link>
    ),
  },
  { id: 'effect', header: 'Effect', render: event => <EffectChips event={event} /> },
  { id: 'data', header: 'Data', width: '26%', isSecondary: true, render: ({ data }) => <Peek data={data} /> },
  { id: 'source', header: 'Source', width: '88px', isSecondary: true, render: ({ source }) => source },
  { id: 'app', header: 'App', width: '110px', isSecondary: true, render: ({ app }) => app ?? '' },
  {
    id: 'received',
    header: 'Received',
    width: '112px',
    align: 'end',
    render: ({ receivedAt }) => <Moment at={receivedAt} />,
  },
]

export default function EventsPage() {
  const [get, set] = useQuery('events')
  const navigate = useNavigate()
  const [name, app] = [get('name'), get('app')]
  const query = usePages('listEvents', { limit: 100, name, app })
  const events = itemsOf(query)
  const filters = (['name', 'app'] as const).flatMap(key => {
    const value = get(key)
    return value === undefined ? [] : [{ label: `${key}:${value}`, drop: () => set({ [key]: undefined }) }]
  })
  const known = [...new Set(events.map(event => event.name))].sort()
  return (
    <Page
      title="Events"
      actions={
        <>
          <Button onClick={() => void query.refetch()}>Read again</Button>
          <Button
            kind="primary"
            onClick={() => navigate({ to: 'sendEvent', query: name === undefined ? {} : { name } })}
          >
            Send an event…
          </Button>
        </>
      }
    >
      <FilterBar
        label="Filter events"
        fields={[
          { name: 'name', label: 'Name', value: name, known, onChange: name => set({ name }) },
          { name: 'app', label: 'App', value: app, onChange: app => set({ app }) },
        ]}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {() =>
            events.length > 0 ? (
              <DataTable
                label="Events"
                columns={COLUMNS}
                rows={events}
                keyOf={({ id }) => id}
                hasMore={query.hasNextPage}
                isLoadingMore={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
                onOpen={({ id }) => navigate({ to: 'event', params: { id } })}
              />
            ) : filters.length > 0 ? (
              <FilteredEmpty what="events" filters={filters} />
            ) : (
              <Empty title="No event yet">
                <p>An event starts the workflows that name it as their trigger and wakes the runs that wait for it.</p>
                <Snippet
                  text={`curl ${ENGINE_URL}/events -H 'content-type: application/json' \\\n  -d '{"name": "user.signed-up", "data": {"name": "Ada"}}'`}
                />
              </Empty>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}

function Peek({ data }: { data: unknown }) {
  if (data === undefined) return null
  const text = sourceOf(data).slice(0, PEEK_MAX)
  return (
    <code className={css.mute} title={text}>
      <Visible text={text} />
    </code>
  )
}
