// The row of a list whose preview is shown: pinned by a key, or below the pointer. A pinned preview follows the keys from row to
// row.

import { useState } from 'react'
import { useKeys } from '../../keys/keys.ts'

export function usePeek<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const [state, setState] = useState<{ key: string; isPinned: boolean }>()
  const isPinned = state?.isPinned ?? false
  const show = (row: Row | undefined, how: 'pin' | 'hover') =>
    setState(now => {
      if (how === 'hover') return now?.isPinned ? now : row && { key: keyOf(row), isPinned: false }
      return now?.isPinned || !row ? undefined : { key: keyOf(row), isPinned: true }
    })
  // Without a pinned preview, a key in the list only renders its table.
  const follow = (row: Row | undefined) => {
    if (isPinned && row) setState({ key: keyOf(row), isPinned })
  }
  useKeys('Preview', isPinned ? [{ keys: 'Escape', label: 'Close the preview', run: () => setState(undefined) }] : [])
  return { row: state && rows.find(row => keyOf(row) === state.key), isPinned, show, follow }
}
