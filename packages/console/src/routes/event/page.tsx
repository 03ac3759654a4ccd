// One event: its payload, its effects and the reasons for them, the runs that it started, and the ways to send it again.

import { lazy, Suspense, useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { renew, useRead } from '../../data/queries.ts'
import { Link, useNavigate, usePage } from '../../router/router.tsx'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { copyCommand } from '../../ui/overlay/copy-command.ts'
import { Menu } from '../../ui/overlay/menu.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { endedRunId, whyNoCopy } from '../events/of-engine.ts'
import { TreePanel } from './tree.tsx'
import { WhyPanel } from './why.tsx'

/** Delay from a change of a run to the next read of the runs that the event started. */
const RENEWAL_MS = 3000

const Redrive = lazy(() => import('../events/redrive.tsx'))

export default function EventPage() {
  const { params } = usePage()
  const id = params.id as string
  const navigate = useNavigate()
  const query = useRead('getEvent', { id }, { keep: false })
  useRenewal(() => renew('getEvent', 'explainEvent', 'getEventTree'), { afterMs: RENEWAL_MS, withEvents: true })
  const [isRedriving, setRedriving] = useState(false)
  const name = query.data?.name ?? id
  const read = { id: 'getEvent', input: { id } } as const
  return (
    <Page
      title={name}
      windowTitle={`${name} · event`}
      actions={
        <>
          <Menu
            label="Copy as"
            items={[
              { label: 'perdure command', onSelect: () => void copyCommand(read, 'perdure') },
              { label: 'curl', onSelect: () => void copyCommand(read, 'curl') },
              { label: 'id', keys: 'c', onSelect: () => void copyText(id, 'ID copied') },
            ]}
          />
          {query.data && (
            <>
              <WriteButton onClick={() => setRedriving(true)}>Start a workflow…</WriteButton>
              <Button
                kind="primary"
                disabledBecause={whyNoCopy(query.data)}
                onClick={() => navigate({ to: 'sendEvent', query: { like: id } })}
              >
                Send a copy…
              </Button>
            </>
          )}
        </>
      }
    >
      <Loaded query={query}>
        {event => (
          <>
            <Panel title="Event">
              <Facts
                facts={[
                  ['ID', <code key="id">{event.id}</code>],
                  ['Received', <Moment key="at" at={event.receivedAt} />],
                  ['Source', event.source],
                  ['App', event.app ?? 'every app'],
                  ['Ended run', endedRunId(event) && <RunLink key="ended" id={endedRunId(event) as string} />],
                  ['Scheduled time', event.scheduledAt],
                  [
                    'Receiver',
                    event.receiverId && (
                      <Link target={{ to: 'receiver', params: { id: event.receiverId } }}>{event.receiverId}</Link>
                    ),
                  ],
                  ['Runs resumed', String(event.woke)],
                ]}
              />
            </Panel>
            <WhyPanel id={event.id} />
            <TreePanel id={event.id} woke={event.woke} />
            <Panel title="Data">
              {event.data === undefined ? (
                <p className="mute">No data.</p>
              ) : (
                <JsonTree text={sourceOf(event.data)} label="the event data" />
              )}
            </Panel>
          </>
        )}
      </Loaded>
      <Suspense>
        {isRedriving && query.data && <Redrive events={[query.data]} onClose={() => setRedriving(false)} />}
      </Suspense>
    </Page>
  )
}

function RunLink({ id }: { id: string }) {
  return (
    <Link target={{ to: 'run', params: { id } }}>
      <code>{id}</code>
    </Link>
  )
}
