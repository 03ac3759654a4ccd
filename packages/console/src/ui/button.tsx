// Buttons. A button that cannot be used now stays focusable and gives the reason in its title and its description. A button that
// only needs a secret key asks for it.

import { type ButtonHTMLAttributes, type Ref, useId } from 'react'
import { NEEDS_KEY, useSession, whyNoNewRun, whyNoWrite } from '../session/session.ts'
import styles from './button.module.css'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  kind?: 'plain' | 'primary' | 'danger' | 'bare'
  /** Why it cannot be used now; with a reason the button is disabled. */
  disabledBecause?: string | undefined
  ref?: Ref<HTMLButtonElement>
}

export function Button({ kind = 'plain', disabledBecause, onClick, title, children, className, ...rest }: ButtonProps) {
  const reason = useId()
  const isDisabled = disabledBecause !== undefined
  const isLocked = disabledBecause === NEEDS_KEY
  return (
    <>
      <button
        type="button"
        {...rest}
        className={`${styles.button} ${className ?? ''}`}
        data-kind={kind}
        aria-disabled={(isDisabled && !isLocked) || undefined}
        data-locked={isLocked || undefined}
        aria-describedby={isDisabled ? reason : rest['aria-describedby']}
        title={disabledBecause ?? title}
        onClick={isDisabled ? event => refuse(event, disabledBecause) : onClick}
      >
        {children}
      </button>
      {isDisabled && (
        <span id={reason} hidden>
          {disabledBecause}
        </span>
      )}
    </>
  )
}

/** Does nothing, except that it asks for a secret key if only that is missing: the button at the top opens the dialog. */
export function refuse(event: { preventDefault(): void }, reason: string): boolean {
  event.preventDefault()
  const isLocked = reason === NEEDS_KEY
  if (isLocked) document.querySelector<HTMLElement>('[data-unlock]')?.click()
  return isLocked
}

export interface WriteButtonProps extends ButtonProps {
  /** Whether it starts runs, which a suspended namespace does not allow. */
  startsRuns?: boolean
}

/** A button for a write: disabled, with the reason, while the session may not write. */
export function WriteButton({ disabledBecause, startsRuns = false, ...rest }: WriteButtonProps) {
  const refused = (startsRuns ? whyNoNewRun : whyNoWrite)(useSession())
  return <Button {...rest} disabledBecause={refused ?? disabledBecause} />
}
