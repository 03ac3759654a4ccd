// The views that all users of the namespace see: opens, renames and deletes them, each with the user who saved it.

import type { Calls } from '@perdure/client'
import { type FormEvent, useRef, useState } from 'react'
import { useRead } from '../../../data/queries.ts'
import { useWrite } from '../../../data/write.ts'
import { Link } from '../../../router/router.tsx'
import { Button, WriteButton } from '../../../ui/button.tsx'
import { Moment } from '../../../ui/moment.tsx'
import { ConfirmButton } from '../../../ui/overlay/confirm-button.tsx'
import { Confirm, Dialog } from '../../../ui/overlay/dialog.tsx'
import { toastError } from '../../../ui/overlay/toasts.tsx'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import styles from '../runs.module.css'
import { NAME_CHARS_MAX, type View } from './views.ts'

type Shared = Calls['listViews']['reply'][number]

/** An id that no other view has. */
const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), byte => byte.toString(16).padStart(2, '0')).join('')

/** The button next to a user's own view, which makes it a shared one. */
export function ShareButton({ view, onShared }: { view: View; onShared(): void }) {
  const put = useWrite('putView', ['listViews'])
  const [id] = useState(newId)
  const name = shortName(view.name)
  const input = { id, body: view }
  return (
    <ConfirmButton
      label="Share…"
      button={{ 'aria-label': `Share ${name}…` }}
      title="Share the view"
      action="Share"
      call={{ id: 'putView', input }}
      onConfirm={() => put.mutate(input, { onSuccess: onShared, onError: toastError })}
    >
      Everybody with a key of this namespace sees {name}, and everybody with a secret key can rename or delete it.
    </ConfirmButton>
  )
}

export function SharedViews({ onClose }: { onClose(): void }) {
  const views = useRead('listViews', {})
  return (
    <section className={styles.shared} aria-label="Shared views">
      <h3>Shared</h3>
      <Loaded query={views} rows={1}>
        {rows =>
          rows.length === 0 ? (
            <p>Nobody has shared a view of this namespace.</p>
          ) : (
            <ul className={`plain-list ${styles.views}`}>
              {rows.map(view => (
                <SharedRow key={view.id} view={view} onClose={onClose} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function SharedRow({ view, onClose }: { view: Shared; onClose(): void }) {
  const [asks, setAsks] = useState<'rename' | 'delete'>()
  const remove = useWrite('deleteView', ['listViews'])
  const { id, query, savedAt, savedBy } = view
  const name = shortName(view.name)
  const close = () => setAsks(undefined)
  return (
    <li>
      <span>
        <Link target={{ to: 'runs', query: new URLSearchParams(query) }} onClick={onClose} title={query}>
          {name}
        </Link>{' '}
        <small>
          {savedBy !== undefined && `by ${shortName(savedBy)} `}
          <Moment at={savedAt} />
        </small>
      </span>
      <span>
        <WriteButton kind="bare" aria-label={`Rename ${name}…`} onClick={() => setAsks('rename')}>
          Rename…
        </WriteButton>
        <WriteButton kind="bare" aria-label={`Delete ${name}…`} onClick={() => setAsks('delete')}>
          Delete…
        </WriteButton>
      </span>
      {asks === 'rename' && <RenameDialog view={view} onClose={close} />}
      {asks === 'delete' && (
        <Confirm
          title="Delete the shared view"
          action="Delete"
          isDanger
          call={{ id: 'deleteView', input: { id } }}
          onConfirm={() => remove.mutate({ id }, { onError: toastError })}
          onClose={close}
        >
          {name} is deleted for everybody in this namespace.
        </Confirm>
      )}
    </li>
  )
}

function RenameDialog({ view: { id, name, query }, onClose }: { view: Shared; onClose(): void }) {
  const put = useWrite('putView', ['listViews'])
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const renamed = field.current?.value.trim() ?? ''
    if (renamed === '') return
    put.mutate({ id, body: { name: renamed, query } }, { onError: toastError })
    onClose()
  }
  return (
    <Dialog title="Rename the shared view" onClose={onClose}>
      <form className={styles.typed} onSubmit={submit}>
        <label>
          New name{' '}
          <input ref={field} maxLength={NAME_CHARS_MAX} defaultValue={name} autoComplete="off" data-autofocus="" />
        </label>
        <Button type="submit" kind="primary">
          Rename
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </form>
    </Dialog>
  )
}
