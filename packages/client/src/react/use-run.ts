// `useRun`: the status, the progress and the result of one run.

import { type FollowedRun, followRun } from '../run-stream/follow-run.ts'
import { type Update, useReader } from './use-reader.ts'

export interface RunOptions {
  /** URL of the engine. */
  url: string
  /** The run; nothing is read while it is undefined. */
  runId: string | undefined
  /** A token of the run. */
  token?: string | undefined
}

export interface RunView<Result = unknown> extends Omit<Partial<FollowedRun<Result>>, 'error'> {
  /** Why the run failed, or why it can no longer be read: an `ApiError` or a `ConnectionError`. */
  error?: FollowedRun['error'] | Error
  /** Whether a connection is open that shows changes as they happen. */
  isLive: boolean
}

/**
 * Follows a run, and renders again whenever its status or its progress has changed, until it has ended. Reconnects by itself. It
 * starts again when the URL, the run or the token changes.
 */
export function useRun<Result = unknown>({ url, runId, token }: RunOptions): RunView<Result> {
  const read = async (id: string, update: Update<RunView<Result>>, signal: AbortSignal) => {
    const onLive = (isLive: boolean) => update(view => ({ ...view, isLive }))
    try {
      for await (const run of followRun<Result>({ url, runId: id, token, signal, onLive }))
        update(({ isLive }) => ({ ...run, isLive }))
    } catch (error) {
      update(view => ({ ...view, error: error as Error }))
    } finally {
      onLive(false)
    }
  }
  return useReader<RunView<Result>>({
    initial: { isLive: false },
    read: runId === undefined ? undefined : (update, signal) => read(runId, update, signal),
    key: JSON.stringify([url, runId, token]),
  })
}
