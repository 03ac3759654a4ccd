// A secret that was just made, shown once.

import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/overlay/copy.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import css from './webhooks.module.css'

export function SecretOnce({ title, secret, onClose }: { title: string; secret: string; onClose(): void }) {
  return (
    <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>I have stored it</Button>}>
      <p>It is shown this once. The other side needs it to check signatures.</p>
      <div className={css.secret}>
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
    </Dialog>
  )
}
