// API keys: who may call the engine. A new key is shown once.

import { cutText } from '@perdure/protocol/portable'
import { useState } from 'react'
import { type Item, usePages } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { useWrite } from '../../data/write.ts'
import { useNavigate, useQuery } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ConfirmButton } from '../../ui/overlay/confirm-button.tsx'
import { SecretOnce } from '../../ui/overlay/secret-once.tsx'
import { toastError } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import { CreateKey, type NewKey } from './create-key.tsx'
import css from './keys.module.css'

type Key = Item<'listApiKeys'>

const COLUMNS: readonly Column<Key>[] = [
  { id: 'label', header: 'Label', render: ({ label }) => <Visible text={cutText(label, 128)} /> },
  { id: 'kind', header: 'Kind', width: '96px', render: ({ kind }) => kind },
  { id: 'id', header: 'ID', width: '25%', isSecondary: true, render: ({ id }) => <code title={id}>{id}</code> },
  { id: 'created', header: 'Created', width: '144px', align: 'end', render: key => <Created of={key} /> },
  {
    id: 'used',
    header: 'Last used',
    width: '120px',
    align: 'end',
    render: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span className="mute">never</span> : <Moment at={lastUsedAt} />,
  },
  { id: 'expires', header: 'Expires', width: '136px', align: 'end', render: key => <Expires of={key} /> },
  { id: 'acts', header: 'Actions', width: '120px', render: key => <Revoke of={key} /> },
]

export default function KeysPage() {
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<NewKey>()
  const { whoami } = useSession()
  const navigate = useNavigate()
  const [get, set] = useQuery('keys')
  const only = get('id')
  const query = usePages('listApiKeys', { limit: 100 })
  const isOpen = whoami?.open
  return (
    <Page
      title="Keys"
      actions={
        <>
          {only !== undefined && <Button onClick={() => set({ id: undefined })}>All keys</Button>}
          <WriteButton
            kind="primary"
            disabledBecause={isOpen ? 'Create the first key with the command below' : undefined}
            onClick={() => setCreating(true)}
          >
            New key…
          </WriteButton>
        </>
      }
    >
      <Panel isFlush>
        <PagedTable
          isWhole
          label="API keys"
          query={query}
          rowsOf={page => page.items.filter(({ id }) => only === undefined || id === only)}
          filters={only === undefined ? [] : [{ label: `id:${only}`, drop: () => set({ id: undefined }) }]}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          menuOf={({ id, label }) => [
            { label: 'Actions with this key', onSelect: () => navigate({ to: 'audit', query: { actor: label } }) },
            { label: 'Changes to this key', onSelect: () => navigate({ to: 'audit', query: { target: id } }) },
          ]}
          what="keys"
          empty={
            <Empty title={isOpen ? 'This engine is open' : 'No keys yet'}>
              <p>
                Programs on this machine can call it without a key; other machines cannot. Creating the first key turns
                authentication on: every program then needs a key. Create it on the engine&apos;s machine.
              </p>
              <Snippet text="perdure keys create --kind secret --label ops" />
            </Empty>
          }
        />
      </Panel>
      {isCreating && <CreateKey onMade={setMade} onClose={() => setCreating(false)} />}
      {made && (
        <SecretOnce
          title={`Key ${made.label}`}
          secret={made.key}
          use="Pass it to your program as ENGINE_API_KEY."
          onClose={() => setMade(undefined)}
        />
      )}
    </Page>
  )
}

const at = (time: string | undefined) => time && exactTime(Date.parse(time))

function lookAt({ id, label, kind, createdAt, lastUsedAt, revokedAt, expiresAt }: Key): Look {
  return {
    head: (
      <>
        <b>{shortName(label)}</b> {kind}
      </>
    ),
    body: (
      <>
        <PeekPart name="ID" text={id} />
        <PeekPart name="Created" text={at(createdAt)} />
        <PeekPart name="Last used" text={at(lastUsedAt) ?? 'never'} />
        <PeekPart name="Revoked" text={at(revokedAt)} />
        <PeekPart name="Expires" text={at(expiresAt) ?? 'never'} />
      </>
    ),
  }
}

function Created({ of: { source, createdAt } }: { of: Key }) {
  return source === 'settings' ? (
    <span title="Defined in ENGINE_API_KEYS">ENGINE_API_KEYS</span>
  ) : (
    <Moment at={createdAt} />
  )
}

/** When the key expires: `in 29 d`, or that it has expired. */
function Expires({ of: { expiresAt } }: { of: Key }) {
  const now = useNow()
  if (expiresAt === undefined) return <span className="mute">never</span>
  if (Date.parse(expiresAt) > now) return <Moment at={expiresAt} />
  return (
    <span className={css.expired}>
      expired <Moment at={expiresAt} />
    </span>
  )
}

function Revoke({ of: { id, label, source, revokedAt, expiresAt } }: { of: Key }) {
  const revoke = useWrite('revokeApiKey', ['listApiKeys'])
  const now = useNow()
  if (revokedAt !== undefined && Date.parse(revokedAt) <= now) return <span className="mute">revoked</span>
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) return <span className="mute">expired</span>
  return (
    <ConfirmButton
      label="Revoke…"
      button={{ disabledBecause: source === 'settings' ? 'Defined in ENGINE_API_KEYS: remove it there' : undefined }}
      title={`Revoke ${cutText(label, 80)}`}
      action="Revoke"
      isDanger
      call={{ id: 'revokeApiKey', input: { id } }}
      onConfirm={() => revoke.mutate({ id }, { onError: toastError })}
    >
      Programs that use this key are rejected within a second, and their streams end. This cannot be undone.
    </ConfirmButton>
  )
}
