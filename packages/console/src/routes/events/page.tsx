// The event log, newest first and live: what arrived, and what it did.

import { useMemo } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import type { Item } from '../../data/queries.ts'
import { useLive } from '../../live/use-live.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { veiledText } from '../../ui/json/veil-json.ts'
import { News } from '../../ui/live-list/news.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { useVeil } from '../../ui/veil.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { EffectChips } from './effect-chips.tsx'
import css from './events.module.css'
import { useEventList } from './use-event-list.ts'

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
  const { isHidden } = useVeil()
  const [name, app] = [get('name'), get('app')]
  const { isPaused } = useLive()
  const input = useMemo(() => ({ limit: 100, name, app }), [name, app])
  const { query, rows: events, news, readAgain } = useEventList(input, { isHeld: isPaused })
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
          <Button onClick={readAgain}>Read again</Button>
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
        <News count={news} onRead={readAgain} />
        <PagedTable
          label="Events"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={event => lookAt(event, isHidden)}
          menuOf={({ id }) => [
            { label: 'Send one like it…', onSelect: () => navigate({ to: 'sendEvent', query: { like: id } }) },
          ]}
          filters={filters}
          what="events"
          empty={
            <Empty title="No event yet">
              <p>An event starts the workflows that name it as their trigger and wakes the runs that wait for it.</p>
              <Snippet
                text={`curl ${ENGINE_URL}/events -H 'content-type: application/json' \\\n  -d '{"name": "user.signed-up", "data": {"name": "Ada"}}'`}
              />
            </Empty>
          }
          onOpen={({ id }) => navigate({ to: 'event', params: { id } })}
        />
      </Panel>
    </Page>
  )
}

function lookAt({ id, name, data }: EventRecord, isHidden: boolean): Look {
  const source = data === undefined ? undefined : sourceOf(data)
  return {
    head: <b>{shortName(name)}</b>,
    body: (
      <>
        <PeekPart name="Data" text={source === undefined ? 'none' : isHidden ? veiledText(source) : source} />
        <PeekPart name="Id" text={id} />
      </>
    ),
  }
}

function Peek({ data }: { data: unknown }) {
  const { isHidden } = useVeil()
  if (data === undefined) return null
  const source = sourceOf(data)
  const text = (isHidden ? veiledText(source) : source).slice(0, PEEK_MAX)
  return (
    <code className={css.mute} title={text}>
      <Visible text={text} />
    </code>
  )
}
