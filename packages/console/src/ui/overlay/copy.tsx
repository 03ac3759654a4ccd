// Copies text to the clipboard, with a button or from a shortcut.

import { Button } from '../button.tsx'
import { toast } from './toasts.tsx'

/** Copies the text and says so. */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(what)
  } catch {
    toast('The browser does not allow copying here', { isError: true })
  }
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <Button kind="bare" aria-label={label} title={label} onClick={() => void copyText(text)}>
      ⧉
    </Button>
  )
}
