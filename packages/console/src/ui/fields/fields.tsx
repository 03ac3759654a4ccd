// Form fields whose values the engine checks: each shows, below it, why the engine refused its value.

import { ApiError } from '@perdure/client'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import css from './form.module.css'

/** Refusals of one field that have their own error code. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = { slug_taken: 'slug' }

/** Returns the field that an error of the engine concerns, if it concerns one. */
function fieldOf(error: Error | null): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  return FIELD_OF_CODE[error.code] ?? (error.details as { field?: string } | undefined)?.field
}

export interface FormFieldsProps {
  id: string
  /** Why the engine refused the form, if it did. */
  error: Error | null
  /** Why the engine would refuse the form now. It does not move the focus. */
  fault?: Error | null
  /** Names of the fields in the form. */
  names: readonly string[]
  onSubmit(): void
  children(errorOf: (name: string) => string | undefined): ReactNode
}

/** A form. A refused field gets the focus. An error that concerns none of its fields is shown below all of them. */
export function FieldForm({ id, error, fault = null, names, onSubmit, children }: FormFieldsProps) {
  const form = useRef<HTMLFormElement>(null)
  const shown = error ?? fault
  const refused = fieldOf(shown)
  const name = refused !== undefined && names.includes(refused) ? refused : undefined
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [error])
  return (
    <form
      id={id}
      ref={form}
      className={css.form}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children(each => (each === name ? shown?.message : undefined))}
      {shown && name === undefined && <p role="alert">{shown.message}</p>}
    </form>
  )
}

/** The attributes of a control that show whether its value was refused. */
export interface ControlProps {
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** A labelled control, with a hint and the reason of a refusal below it. */
export function Field(props: {
  label: string
  hint?: string
  error: string | undefined
  children(control: ControlProps): ReactNode
}) {
  const { label, hint, error, children } = props
  const id = useId()
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])]
  return (
    <div className={css.field}>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is a child that the caller gives. */}
      <label>
        {label}
        {children({
          'aria-invalid': error === undefined ? undefined : true,
          'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        })}
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={css.hint}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={css.error} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}
