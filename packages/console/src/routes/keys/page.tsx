// API keys: who may call the engine. A new key is shown once.

import type { Calls } from '@perdure/client'
import { cutText } from '@perdure/protocol/portable'
import { useState } from 'react'
import { type Item, usePages } from '../../data/queries.ts'
import { useNow } from '../../data/time/clock.ts'
import { useWrite } from '../../data/write.ts'
import { useNavigate, useQuery } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Confirm, Dialog } from '../../ui/overlay/dialog.tsx'
import { SecretOnce } from '../../ui/overlay/secret-once.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'
import css from './keys.module.css'

type Key = Item<'listApiKeys'>
type NewKey = Calls['createApiKey']['reply']

const KINDS = [
  ['read', 'reads everything, changes nothing'],
  ['event', 'sends events'],
  ['runner', 'registers a runner and its workflows'],
  ['secret', 'does everything'],
] as const

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
    render: ({ lastUsedAt }) => <Moment at={lastUsedAt} />,
  },
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
                Programs on this machine can call it without a key; other machines cannot. Once a key exists, every
                program needs one. Create the first key on the engine&apos;s machine.
              </p>
              <Snippet text="perdure keys create --kind secret --label ops" />
            </Empty>
          }
        />
      </Panel>
      {isCreating && <CreateDialog onMade={setMade} onClose={() => setCreating(false)} />}
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

function lookAt({ id, label, kind, createdAt, lastUsedAt, revokedAt }: Key): Look {
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

function Revoke({ of: { id, label, source, revokedAt } }: { of: Key }) {
  const [isAsking, setAsking] = useState(false)
  const revoke = useWrite('revokeApiKey', ['listApiKeys'])
  const now = useNow()
  if (revokedAt !== undefined && Date.parse(revokedAt) <= now) return <span className={css.mute}>revoked</span>
  return (
    <>
      <WriteButton
        disabledBecause={source === 'settings' ? 'Defined in ENGINE_API_KEYS: remove it there' : undefined}
        onClick={() => setAsking(true)}
      >
        Revoke…
      </WriteButton>
      {isAsking && (
        <Confirm
          title={`Revoke ${cutText(label, 80)}`}
          action="Revoke"
          isDanger
          onClose={() => setAsking(false)}
          call={{ id: 'revokeApiKey', input: { id } }}
          onConfirm={() => revoke.mutate({ id }, { onError: error => toast(error.message, { isError: true }) })}
        >
          Programs that use this key are rejected within a second, and their streams end. This cannot be undone.
        </Confirm>
      )}
    </>
  )
}

function CreateDialog({ onMade, onClose }: { onMade(made: NewKey): void; onClose(): void }) {
  const [kind, setKind] = useState<Key['kind']>('read')
  const [label, setLabel] = useState('')
  const create = useWrite('createApiKey', ['listApiKeys'])
  const input = { body: { kind, ...(label === '' ? {} : { label }) } }
  const make = () =>
    create.mutate(input, {
      onSuccess: made => {
        onMade(made)
        onClose()
      },
    })
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      call={{ id: 'createApiKey', input }}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <WriteButton kind="primary" onClick={make}>
            Create
          </WriteButton>
        </>
      }
    >
      <form
        className={css.form}
        onSubmit={event => {
          event.preventDefault()
          make()
        }}
      >
        <label>
          Label
          <input data-autofocus="" value={label} maxLength={128} onChange={event => setLabel(event.target.value)} />
        </label>
        <fieldset>
          <legend>Kind</legend>
          {KINDS.map(([each, what]) => (
            <label key={each}>
              <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
              <strong>{each}</strong> {what}
            </label>
          ))}
        </fieldset>
        {create.error && <p role="alert">{create.error.message}</p>}
      </form>
    </Dialog>
  )
}
