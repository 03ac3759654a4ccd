// A button that opens a confirmation before it writes.

import { useState } from 'react'
import { WriteButton, type WriteButtonProps } from '../button.tsx'
import { Confirm, type ConfirmProps } from './dialog.tsx'

export interface ConfirmButtonProps extends Omit<ConfirmProps, 'disabledBecause' | 'onClose'> {
  /** The label of the button. */
  label: string
  button?: Pick<WriteButtonProps, 'startsRuns' | 'disabledBecause' | 'aria-label'>
}

export function ConfirmButton({ label, button, ...confirm }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <WriteButton {...button} onClick={() => setAsking(true)}>
        {label}
      </WriteButton>
      {isAsking && <Confirm {...confirm} onClose={() => setAsking(false)} />}
    </>
  )
}
