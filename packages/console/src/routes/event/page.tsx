// One event: its payload, what it started and woke, and the ways to send it again.

import type { EventRecord } from '@perdure/protocol'
import { sourceOf } from '../../data/json/parse.ts'
import { useRead } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useNavigate, usePage } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { Moment } from '../../ui/moment.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { Empty } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import css from '../events/events.module.css'

type Triggered = EventRecord['triggered'][number]

const FLAGS = {
  deduped: 'it repeats an event or a key that counted before',
  dropped: 'a rate limit dropped it',
  skipped: 'a run of the singleton was alive',
  debounced: 'a debounce held it, until the burst ended',
  batched: 'it joined a batch',
} as const

const COLUMNS: readonly Column<Triggered>[] = [
  {
    id: 'workflow',
    header: 'Workflow',
    width: '30%',
    render: ({ app, workflow }) => <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>,
  },
  { id: 'app', header: 'App', width: '20%', render: ({ app }) => app },
  { id: 'outcome', header: 'Became', render: entry => <Outcome entry={entry} /> },
]

export default function EventPage() {
  const { params } = usePage()
  const id = params.id as string
  const navigate = useNavigate()
  const query = useRead('getEvent', { id }, { keep: false })
  const name = query.data?.name ?? id
  return (
    <Page
      title={name}
      windowTitle={`${name} · event`}
      actions={
        <>
          <Menu
            label="Copy as"
            items={[
              { label: 'perdure command', onSelect: () => void copyText(`perdure events get ${id}`) },
              { label: 'curl', onSelect: () => void copyText(`curl ${ENGINE_URL}/events/${id}`) },
              { label: 'id', onSelect: () => void copyText(id) },
            ]}
          />
          <Button kind="primary" onClick={() => navigate({ to: 'sendEvent', query: { like: id } })}>
            Send one like this…
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {event => (
          <>
            <Panel title="Event">
              <Facts
                facts={[
                  ['Id', <code key="id">{event.id}</code>],
                  ['Received', <Moment key="at" at={event.receivedAt} />],
                  ['Source', event.source],
                  ['App', event.app ?? 'every app'],
                  ['Instant of its schedule', event.scheduledAt],
                  ['Receiver', event.receiverId],
                  ['Waits that it woke', String(event.woke)],
                ]}
              />
            </Panel>
            <Panel title="Started" isFlush>
              {event.triggered.length > 0 ? (
                <DataTable
                  label="Workflows that the event triggered"
                  columns={COLUMNS}
                  rows={event.triggered}
                  keyOf={({ app, workflow }) => `${app}\n${workflow}`}
                />
              ) : (
                <Empty title="It started nothing">
                  <p>
                    No workflow had a trigger for this name whose filter it passed.{' '}
                    <Link target={{ to: 'sendEvent', query: { like: event.id } }}>What would it start now?</Link>
                  </p>
                </Empty>
              )}
            </Panel>
            <Panel title="Data">
              {event.data === undefined ? (
                <p className={css.mute}>It has no data.</p>
              ) : (
                <JsonTree text={sourceOf(event.data)} label="the data of the event" />
              )}
            </Panel>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Outcome({ entry }: { entry: Triggered }) {
  const flag = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).find(each => entry[each])
  return (
    <>
      {entry.runId !== undefined && <Link target={{ to: 'run', params: { id: entry.runId } }}>{entry.runId}</Link>}{' '}
      {flag !== undefined && <span className={css.mute}>{FLAGS[flag]}</span>}
    </>
  )
}
