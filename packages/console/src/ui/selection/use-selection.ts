// The selected rows of a list, restored by the browser's "back". A change of filters empties the selection.

import { useCallback, useMemo } from 'react'
import { useKept } from '../kept.ts'

/** `input` is the input of the list: a new one has no selection yet. */
export function useSelection(input: unknown) {
  const of = JSON.stringify(input)
  const [state, setState] = useKept<{ of: string; keys: readonly string[] }>('selected', { of, keys: [] })
  const selected = useMemo(() => new Set(state.of === of ? state.keys : []), [state, of])
  const setSelected = useCallback((keys: ReadonlySet<string>) => setState({ of, keys: [...keys] }), [of, setState])
  return { selected, setSelected, clear: () => setSelected(new Set()) }
}
