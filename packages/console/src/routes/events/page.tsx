// The event log, newest first and live: the events and their effects.

import { cutText } from '@perdure/protocol/portable'
import { lazy, Suspense, useMemo, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { type Item, itemsOf, usePages } from '../../data/queries.ts'
import { EACH_MAX } from '../../data/write-each.ts'
import { useLive } from '../../live/use-live.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { useSession, whyNoWrite } from '../../session/session.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { veiledText } from '../../ui/json/veil-json.ts'
import { News } from '../../ui/live-list/news.tsx'
import { Moment } from '../../ui/moment.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { SelectionToolbar } from '../../ui/selection/bar.tsx'
import { useSelection } from '../../ui/selection/use-selection.ts'
import { Empty } from '../../ui/states/empty.tsx'
import { activeFilters, windowFields } from '../../ui/states/filter-fields.ts'
import { FirstEvent } from '../../ui/states/first-run.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { useVeil } from '../../ui/veil.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { EffectChips } from './effect-chips.tsx'
import type { EventsInput } from './matches.ts'
import { NameFacets } from './name-facets.tsx'
import { whyNoCopy } from './of-engine.ts'
import { useEventList } from './use-event-list.ts'

const Redrive = lazy(() => import('./redrive.tsx'))
const DelayedEvents = lazy(() => import('./delayed.tsx'))

type EventRecord = Item<'listEvents'>

const SOURCES: readonly EventRecord['source'][] = ['api', 'emit', 'schedule', 'engine']
const NAMES_STALE_MS = 30_000

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
  { id: 'app', header: 'App', width: '110px', render: ({ app }) => app ?? '' },
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
  const name = get('name')
  const { isPaused } = useLive()
  const input = useInput(get)
  const { selected, setSelected, clear } = useSelection(input)
  const { query, rows, news, readAgain } = useEventList(input, { isFrozen: isPaused || selected.size > 0 })
  const [redriven, setRedriven] = useState<readonly EventRecord[]>()
  const refused = whyNoWrite(useSession())
  const filters = activeFilters(FILTERS, get, set)
  return (
    <Page
      title="Events"
      actions={
        <>
          <Button onClick={readAgain}>Refresh</Button>
          <Button
            kind="primary"
            onClick={() => navigate({ to: 'sendEvent', query: name === undefined ? {} : { name } })}
          >
            Send an event…
          </Button>
        </>
      }
    >
      <Filters get={get} set={set} />
      <NameFacets />
      <Suspense>
        <DelayedEvents name={name} />
      </Suspense>
      <Panel isFlush>
        <News count={news} onRead={readAgain} />
        <PagedTable
          label="Events"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={event => lookAt(event, isHidden)}
          menuOf={event => [
            copyItem(event, () => navigate({ to: 'sendEvent', query: { like: event.id } })),
            {
              label: 'Start a workflow…',
              disabledBecause: refused,
              onSelect: () => setRedriven([event]),
            },
          ]}
          selection={{ keys: selected, onChange: setSelected }}
          filters={filters}
          what="events"
          empty={
            <Empty title="No events yet">
              <p>An event starts workflows with a matching trigger and resumes runs that wait for it.</p>
              <FirstEvent />
            </Empty>
          }
          onOpen={({ id }) => navigate({ to: 'event', params: { id } })}
        />
      </Panel>
      {selected.size > 0 && (
        <SelectionToolbar
          text={`${selected.size} ${selected.size === 1 ? 'event' : 'events'} selected`}
          onClear={clear}
        >
          <WriteButton
            disabledBecause={selected.size > EACH_MAX ? `at most ${EACH_MAX} rows at once` : undefined}
            onClick={() => setRedriven(rows.filter(({ id }) => selected.has(id)))}
          >
            Start a workflow…
          </WriteButton>
        </SelectionToolbar>
      )}
      <Suspense>{redriven && <Redrive events={redriven} onClose={() => setRedriven(undefined)} />}</Suspense>
    </Page>
  )
}

function copyItem(event: EventRecord, onSelect: () => void) {
  return { label: 'Send a copy…', disabledBecause: whyNoCopy(event), onSelect }
}

const FILTERS = ['name', 'app', 'source', 'since', 'until'] as const

type Query = ReturnType<typeof useQuery<'events'>>

function Filters({ get, set }: { get: Query[0]; set: Query[1] }) {
  const [name, app, source, since, until] = FILTERS.map(get)
  const names = usePages('listEventNames', { limit: 200 }, { staleMs: NAMES_STALE_MS })
  const known = itemsOf(names).map(({ name }) => name)
  return (
    <FilterBar
      label="Filter events"
      fields={[
        { name: 'name', label: 'Name', value: name, known, onChange: name => set({ name }) },
        { name: 'app', label: 'App', value: app, onChange: app => set({ app }) },
        { name: 'source', label: 'Source', value: source, choices: SOURCES, onChange: source => set({ source }) },
        ...windowFields({ since, until }, set),
      ]}
    />
  )
}

/** Returns the input for reading the log. The engine refuses values that it does not know. */
function useInput(get: Query[0]): EventsInput {
  const [since, until] = [useTime(get('since')), useTime(get('until'))]
  return useMemo(() => {
    const source = get('source') as EventsInput['source']
    return { limit: 100, name: get('name'), app: get('app'), source, since, until }
  }, [get, since, until])
}

function lookAt({ id, name, data }: EventRecord, isHidden: boolean): Look {
  const source = data === undefined ? undefined : sourceOf(data)
  return {
    head: <b>{shortName(name)}</b>,
    body: (
      <>
        <PeekPart name="Data" text={source === undefined ? 'none' : isHidden ? veiledText(source) : source} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}

function Peek({ data }: { data: unknown }) {
  const { isHidden } = useVeil()
  if (data === undefined) return null
  const source = sourceOf(data)
  const text = cutText(isHidden ? veiledText(source) : source, PEEK_MAX)
  return (
    <code className="mute" title={text}>
      <Visible text={text} />
    </code>
  )
}
