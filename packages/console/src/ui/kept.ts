// Component state that the entry of the history keeps, so that back, forward and a reload restore it.

import { useCallback, useState } from 'react'
import { keep, kept } from '../router/history.ts'

/** Like `useState`, for a value that can be cloned. `name` must be unique in the page. */
export function useKept<Value>(name: string, initial: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState(() => kept<Value>(name) ?? initial)
  const set = useCallback(
    (next: Value) => {
      setValue(next)
      keep(name, next)
    },
    [name],
  )
  return [value, set]
}
