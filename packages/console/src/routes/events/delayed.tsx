// Events that were sent for later and have not arrived: what each is, when it arrives, and a way to cancel it. Shown above the
// log if there are any.

import { useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { type Item, itemsOf, renew, usePages } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { useSession, whyNoWrite } from '../../session/session.ts'
import { WriteButton } from '../../ui/button.tsx'
import { veiledText } from '../../ui/json/veil-json.ts'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { useVeil } from '../../ui/veil.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'

type Delayed = Item<'listScheduledEvents'>

/** Delay from an event to the next read. */
const RENEWAL_MS = 5000

/** `name`: shows only events of that name, like the log below. */
export default function DelayedEvents({ name }: { name: string | undefined }) {
  const query = usePages('listScheduledEvents', { limit: 50, ...(name !== undefined && { name }) })
  useRenewal(() => renew('listScheduledEvents'), { afterMs: RENEWAL_MS, withEvents: true })
  const { isHidden } = useVeil()
  const [cancelled, setCancelled] = useState<Delayed>()
  const remove = useWrite('deleteScheduledEvent', ['listScheduledEvents'])
  const refused = whyNoWrite(useSession())
  if (itemsOf(query).length === 0) return null
  const columns: readonly Column<Delayed>[] = [
    { id: 'name', header: 'Event', render: ({ name }) => <Visible text={name} /> },
    { id: 'at', header: 'Arrives', width: '150px', render: ({ at }) => <Moment at={at} /> },
    { id: 'app', header: 'App', width: '110px', isSecondary: true, render: ({ app }) => app ?? '' },
    {
      id: 'acts',
      header: 'Actions',
      width: '108px',
      render: event => <WriteButton onClick={() => setCancelled(event)}>Cancel…</WriteButton>,
    },
  ]
  return (
    <Panel title="Delayed events" isFlush>
      <PagedTable
        isWhole
        label="Delayed events"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        look={event => lookAt(event, isHidden)}
        menuOf={event => [{ label: 'Cancel…', disabledBecause: refused, onSelect: () => setCancelled(event) }]}
        what="delayed events"
        empty={null}
      />
      {cancelled && (
        <Confirm
          title={`Cancel ${shortName(cancelled.name)}`}
          action="Cancel event"
          isDanger
          call={{ id: 'deleteScheduledEvent', input: { id: cancelled.id } }}
          onClose={() => setCancelled(undefined)}
          onConfirm={() =>
            remove.mutate({ id: cancelled.id }, { onSuccess: () => toast('Event cancelled'), onError: toastError })
          }
        >
          <p>It was due {exactTime(Date.parse(cancelled.at)).split('\n')[0]}. Its deduplication ID remains in use.</p>
        </Confirm>
      )}
    </Panel>
  )
}

function lookAt({ id, name, at, createdAt, data, dedupeId }: Delayed, isHidden: boolean): Look {
  const source = data === undefined ? undefined : sourceOf(data)
  return {
    head: <b>{shortName(name)}</b>,
    body: (
      <>
        <PeekPart name="Arrives" text={exactTime(Date.parse(at))} />
        <PeekPart name="Sent" text={exactTime(Date.parse(createdAt))} />
        <PeekPart name="Data" text={source === undefined ? 'none' : isHidden ? veiledText(source) : source} />
        <PeekPart name="Deduplication ID" text={dedupeId} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}
