// Unlocks actions with a secret key. Opened from the top bar.

import { unlock } from '../../session/session.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { KeyForm } from './key-form.tsx'

export default function UnlockDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Unlock actions" onClose={onClose}>
      <KeyForm label="Secret key for this namespace" action="Unlock" onKey={key => unlock(key).then(onClose)} />
      <p>Actions stay unlocked for 15 minutes in this tab. The key is not stored.</p>
    </Dialog>
  )
}
