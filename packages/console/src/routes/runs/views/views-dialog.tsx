// The saved views: opens, saves, removes, shares, exports and imports the user's own, and shows the shared ones.

import { type FormEvent, useRef, useState } from 'react'
import { Link } from '../../../router/router.tsx'
import { Button } from '../../../ui/button.tsx'
import { copyText } from '../../../ui/overlay/copy.tsx'
import { Dialog } from '../../../ui/overlay/dialog.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { shortName } from '../../../ui/visible-text.ts'
import styles from '../runs.module.css'
import { ShareButton, SharedViews } from './shared-views.tsx'
import { readViews, storedViews, storeViews, type View, withViews } from './views.ts'

export default function ViewsDialog({ onClose }: { onClose(): void }) {
  const [views, setViews] = useState(storedViews)
  const change = (next: View[]) => {
    storeViews(next)
    setViews(next)
  }
  // Read the stored views, because the dialog may show others by the time a view is shared.
  const remove = (name: string) => change(storedViews().filter(view => view.name !== name))
  const save = (name: string) =>
    change(withViews(views, readViews(JSON.stringify([{ name, query: location.search.slice(1) }]))))
  return (
    <Dialog title="Views" onClose={onClose}>
      <NameForm onSave={save} />
      {views.length > 0 && (
        <ul className={`plain-list ${styles.views}`}>
          {views.map(({ name, query }) => (
            <li key={name}>
              <Link target={{ to: 'runs', query: new URLSearchParams(query) }} onClick={onClose} title={query}>
                {shortName(name)}
              </Link>
              <span>
                <ShareButton view={{ name, query }} onShared={() => remove(name)} />
                <Button kind="bare" aria-label={`Remove ${shortName(name)}`} onClick={() => remove(name)}>
                  ✕
                </Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      <SharedViews onClose={onClose} />
      <Exchange views={views} onImport={more => change(withViews(views, more))} />
    </Dialog>
  )
}

function NameForm({ onSave }: { onSave(name: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const name = field.current?.value.trim() ?? ''
    if (name === '') return
    try {
      onSave(name)
      if (field.current) field.current.value = ''
    } catch (error) {
      toast((error as Error).message, { isError: true })
    }
  }
  return (
    <form className={styles.typed} onSubmit={submit}>
      <label>
        Save these filters as <input ref={field} maxLength={80} autoComplete="off" data-autofocus="" />
      </label>
      <Button type="submit">Save</Button>
    </form>
  )
}

/** Views as JSON: copied for others, and pasted from them. */
function Exchange({ views, onImport }: { views: readonly View[]; onImport(views: View[]): void }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [fault, setFault] = useState<string>()
  const add = () => {
    try {
      onImport(readViews(field.current?.value ?? ''))
      setFault(undefined)
      if (field.current) field.current.value = ''
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  return (
    <details>
      <summary>Export and import</summary>
      <div className={styles.exchange}>
        <Button onClick={() => void copyText(JSON.stringify(views), 'Views copied')}>Copy all as JSON</Button>
        <label>
          Views as JSON
          <textarea ref={field} rows={3} spellCheck={false} />
        </label>
        {fault !== undefined && <p role="alert">{fault}</p>}
        <Button onClick={add}>Import</Button>
      </div>
    </details>
  )
}
