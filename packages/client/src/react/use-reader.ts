// The state of a component that reads a run from an engine. Used by use-run.ts and use-stream.ts.

import { useEffect, useState } from 'react'
import type { ReadOptions } from '../run-stream/connection.ts'

export interface RunOptions {
  /** URL of the engine. */
  url: string
  /** The run; nothing is read while it is undefined. */
  runId: string | undefined
  /** A token of the run. */
  token?: string | undefined
}

/** Changes the view of the reader's component. */
type Update<View> = (change: (view: View) => View) => void

interface Reader<View> {
  /** The view before the first update. */
  initial: View
  /** Names what is read of the run. */
  name?: string
  /** Reads and updates the view until the signal is aborted, or there is nothing more to read. */
  read(from: ReadOptions, update: Update<View>): Promise<void>
}

/**
 * Returns the view of a reader, with its error. Changes in one turn of the event loop are rendered once. The reader starts again
 * when the URL, the run, the token or the name changes.
 */
export function useReader<View extends { isLive: boolean }>(
  { url, runId, token }: RunOptions,
  { initial, name, read }: Reader<View>,
): View {
  const key = JSON.stringify([url, runId, token, name])
  const [shown, setShown] = useState({ key, view: initial })
  // biome-ignore lint/correctness/useExhaustiveDependencies: The key decides; the reader is new in each render.
  useEffect(() => {
    if (runId === undefined) return
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
    const onLive = (isLive: boolean) => update(view => ({ ...view, isLive }))
    read({ url, runId, token, signal: gone.signal, onLive }, update)
      .catch((error: Error) => update(view => ({ ...view, error })))
      .finally(() => onLive(false))
    return () => {
      gone.abort()
      clearTimeout(timer)
    }
  }, [key])
  // The view of another key is not shown, not even for one render.
  return shown.key === key ? shown.view : initial
}
