// Modal dialogs: the browser's own <dialog>, which traps focus, closes with Esc and makes the page behind it inert.

import { type ReactNode, useEffect, useId, useRef } from 'react'
import type { Call } from '../../data/commands/request.ts'
import { Button } from '../button.tsx'
import { Commands } from './commands.tsx'
import styles from './overlay.module.css'
import { Toasts } from './toasts.tsx'

export interface DialogProps {
  title: string
  onClose(): void
  children: ReactNode
  /** Buttons at the bottom. */
  actions?: ReactNode
  /** The label of a button before them, which closes the dialog. */
  close?: string
  /** Wide enough for code. */
  isWide?: boolean
  /** Only its own buttons close it, because its content would be lost. */
  isKept?: boolean
  /** Shows the commands that do the same as this call, or these calls. */
  call?: Call | readonly Call[] | undefined
}

/** A modal dialog, open while it is rendered. The first element with `autofocus`, or the first control, gets the focus. */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, close, isWide = false, isKept = false, call } = props
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const dismiss = () => isKept || onClose()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      className={styles.dialog}
      data-wide={isWide || undefined}
      aria-labelledby={heading}
      onCancel={event => {
        event.preventDefault()
        dismiss()
      }}
      onClick={event => {
        if (event.target === ref.current) dismiss()
      }}
      onKeyDown={event => {
        event.stopPropagation()
        // A browser closes a dialog at the second Esc, no matter how the page handled the first.
        if (isKept && event.key === 'Escape') event.preventDefault()
      }}
    >
      <div className={styles.dialogBody}>
        <header className={styles.dialogHead}>
          <h2 id={heading}>{title}</h2>
          {!isKept && (
            <Button kind="bare" aria-label="Close" title="Close (Esc)" onClick={onClose}>
              ✕
            </Button>
          )}
        </header>
        <div className={styles.dialogContent}>
          {children}
          {call && <Commands call={call} />}
        </div>
        {actions && (
          <footer className={styles.dialogActions}>
            {close !== undefined && <Button onClick={onClose}>{close}</Button>}
            {actions}
          </footer>
        )}
      </div>
      <Toasts />
    </dialog>
  )
}

export interface ConfirmProps {
  title: string
  /** One sentence about the effect. */
  children: ReactNode
  /** The label of the button for the action: a verb. */
  action: string
  /** The label of the button that does nothing. It has the focus. */
  keep?: string
  isDanger?: boolean
  /** Why it cannot be done now. */
  disabledBecause?: string | undefined
  call?: Call | readonly Call[]
  onConfirm(): void
  onClose(): void
}

/** Returns the label of the button that does nothing. Next to an action that cancels something, "Cancel" would be ambiguous. */
export const keepLabel = (action: string) => (/^cancel/i.test(action) ? "Don't cancel" : 'Cancel')

/** Asks before an action. */
export function Confirm({
  title,
  children,
  action,
  keep = keepLabel(action),
  isDanger = false,
  disabledBecause,
  call,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const confirm = () => {
    onConfirm()
    onClose()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      call={call}
      actions={
        <>
          <Button onClick={onClose} data-autofocus="">
            {keep}
          </Button>
          <Button kind={isDanger ? 'danger' : 'primary'} disabledBecause={disabledBecause} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}
