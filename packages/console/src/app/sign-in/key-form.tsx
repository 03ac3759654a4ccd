// A form with one field for a key, which is never stored. Used by the sign-in page and the dialog that unlocks actions.

import { ApiError } from '@perdure/client'
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import styles from './sign-in.module.css'

export interface KeyFormProps {
  label: string
  action: string
  onKey(key: string): Promise<unknown>
  /** Further choices, below the field. */
  children?: ReactNode
}

export function KeyForm({ label, action, onKey, children }: KeyFormProps) {
  const field = useRef<HTMLInputElement>(null)
  const [state, setState] = useState<{ isBusy: boolean; error?: string }>({ isBusy: false })
  const id = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const key = field.current?.value.trim() ?? ''
    if (key === '' || state.isBusy) return
    setState({ isBusy: true })
    onKey(key).then(
      () => {
        if (field.current) field.current.value = ''
        setState({ isBusy: false })
      },
      (error: Error) => setState({ isBusy: false, error: reasonOf(error) }),
    )
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <label htmlFor={id}>{label}</label>
      <div className={styles.line}>
        <input
          ref={field}
          id={id}
          type="password"
          autoComplete="off"
          spellCheck={false}
          data-autofocus=""
          aria-invalid={state.error !== undefined || undefined}
          aria-describedby={state.error === undefined ? undefined : `${id}-error`}
        />
        <Button type="submit" kind="primary">
          {state.isBusy ? 'Checking…' : action}
        </Button>
      </div>
      {children}
      {state.error !== undefined && (
        <p id={`${id}-error`} className={styles.error} role="alert">
          {state.error}
        </p>
      )}
    </form>
  )
}

/** Returns the reason without the client's advice for an invalid key: it names a variable, which nobody sets here. */
function reasonOf(error: Error): string {
  if (!(error instanceof ApiError) || error.status !== 401) return error.message
  return 'Key not found or revoked. `perdure keys list` lists the keys, `perdure keys create` creates one'
}
