// The state of a component that reads from an engine. Used by use-run.ts and use-stream.ts.

import { useEffect, useState } from 'react'

/** Changes the view of the reader's component. */
export type Update<View> = (change: (view: View) => View) => void

/** Reads and updates the view until the signal is aborted, or there is nothing more to read. */
export type Reader<View> = (update: Update<View>, signal: AbortSignal) => Promise<void>

export interface ReaderOptions<View> {
  /** The view before the first update. */
  initial: View
  /** Absent: nothing is read. */
  read: Reader<View> | undefined
  /** Names what is read: the reader starts again when it changes. */
  key: string
}

/** Returns the view of a reader. Changes in one turn of the event loop are rendered once. */
export function useReader<View>({ initial, read, key }: ReaderOptions<View>): View {
  const [shown, setShown] = useState({ key, view: initial })
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key decides; the other options are new in each render.
  useEffect(() => {
    if (!read) return
    const gone = new AbortController()
    let view = initial
    let timer: ReturnType<typeof setTimeout> | undefined
    const update: Update<View> = change => {
      if (gone.signal.aborted) return
      view = change(view)
      timer ??= setTimeout(() => {
        timer = undefined
        setShown({ key, view })
      })
    }
    // A reader puts its errors into the view. It rejects only after the component is gone.
    read(update, gone.signal).catch(() => {})
    return () => {
      gone.abort()
      clearTimeout(timer)
    }
  }, [key])
  // The view of another key is not shown, not even for one render.
  return shown.key === key ? shown.view : initial
}
