// A secret that was just created, shown once.

import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import styles from './secret-once.module.css'

export interface SecretOnceProps {
  title: string
  secret: string
  /** Where the secret belongs, as sentences. */
  use: ReactNode
  onClose(): void
}

export function SecretOnce({ title, secret, use, onClose }: SecretOnceProps) {
  return (
    <Dialog title={title} isKept onClose={onClose} actions={<Button onClick={onClose}>I have stored it</Button>}>
      <p>It is shown only once. {use}</p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy secret" />
      </div>
    </Dialog>
  )
}
