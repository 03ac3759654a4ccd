// `useRun`: the status, the progress and the result of one run.

import { type FollowedRun, followRun } from '../run-stream/follow-run.ts'
import { type RunOptions, useReader } from './use-reader.ts'

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
export function useRun<Result = unknown>(options: RunOptions): RunView<Result> {
  return useReader<RunView<Result>>(options, {
    initial: { isLive: false },
    async read(from, update) {
      for await (const run of followRun<Result>(from)) update(({ isLive }) => ({ ...run, isLive }))
    },
  })
}
