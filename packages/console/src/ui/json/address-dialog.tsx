// Asks before an address in a payload is opened, and shows its host: anybody may have written it. Loaded on request.

import { createPortal } from 'react-dom'
import { Button } from '../button.tsx'
import { CopyButton } from '../overlay/copy.tsx'
import { Dialog } from '../overlay/dialog.tsx'
import css from './address-dialog.module.css'

export default function AddressDialog({ address, onClose }: { address: URL; onClose(): void }) {
  const { host, href } = address
  // Rendered outside the tree, because it would inherit the tree's font.
  return createPortal(
    <Dialog
      title={`Open ${host}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose} data-autofocus="">
            Cancel
          </Button>
          <a className={css.open} href={href} target="_blank" rel="noopener noreferrer" onClick={onClose}>
            Open in a new tab
          </a>
        </>
      }
    >
      <p>
        This link comes from the data and may not be safe. It opens <strong>{host}</strong>.
      </p>
      <p className={css.address}>
        <code>{href}</code> <CopyButton text={href} label="Copy URL" />
      </p>
    </Dialog>,
    document.body,
  )
}
