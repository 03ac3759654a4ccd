// Opens another namespace with one of its keys: each namespace has its own session.

import { useNavigate } from '../../router/router.tsx'
import { signIn } from '../../session/session.ts'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { KeyForm } from './key-form.tsx'

export default function NamespaceDialog({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const enter = async (key: string) => {
    const namespace = await signIn({ key })
    onClose()
    navigate({ to: 'runs', namespace })
  }
  return (
    <Dialog title="Open another namespace" onClose={onClose}>
      <KeyForm label="Key for the other namespace" action="Open" onKey={enter} />
      <p>This tab keeps both sessions: switch between them in the namespace menu.</p>
    </Dialog>
  )
}
