// Copies text to the clipboard, with a button or from a shortcut.

import { Button } from '../button.tsx'
import { CopyIcon } from './copy-icon.tsx'
import styles from './overlay.module.css'
import { toast } from './toasts.tsx'

/** Copies the text and shows a message. */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  if ((await write(text)) || copySelection(text)) toast(what)
  else toast('The browser does not allow copying here', { isError: true })
}

/** Writes to the clipboard. Browsers have it only on secure addresses, and may refuse it. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/**
 * Copies from a temporary field, which works on plain HTTP. An open dialog contains the field, because everything else is inert.
 */
function copySelection(text: string): boolean {
  const field = document.createElement('textarea')
  const focused = document.activeElement
  field.value = text
  field.className = 'visually-hidden'
  ;([...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}

export interface CopyButtonProps {
  text: string
  label?: string
  /** The shortcut for the same action, for the title. */
  keys?: string
}

export function CopyButton({ text, label = 'Copy', keys }: CopyButtonProps) {
  return (
    <Button
      kind="bare"
      className={styles.copy}
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      onClick={() => void copyText(text)}
    >
      <CopyIcon />
    </Button>
  )
}
