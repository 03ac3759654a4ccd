// The exit codes of the command line, and the exit code of each error.

import { ApiError, ConnectionError } from '@perdure/client'
import { CommanderError } from 'commander'
import { UsageError } from './flags.ts'
import { Interrupted } from './terminal.ts'

export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3, timedOut: 4, interrupted: 130 } as const

export const EXIT_CODES_HELP = `
Exit codes:
  0    done; with a run that is watched or waited for: it succeeded
  1    the engine refused, or the run failed or was cancelled
  2    bad usage
  3    the engine cannot be reached
  4    --timeout passed before the run ended
  130  interrupted`

/** An error of a store. Ends the command with exit code 1. */
export class RefusedError extends Error {}

/** A service other than the engine cannot be reached. Ends the command with exit code 3. */
export class UnreachableError extends Error {}

/** Returns the exit code of an error, and the message to print. Rethrows unexpected errors. */
export function exitOf(error: unknown): { code: number; message?: string } {
  // Commander has already printed its message. Its errors are all bad usage, except help and version.
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage }
  if (error instanceof UsageError) return { code: EXIT.usage, message: error.message }
  if (error instanceof RefusedError) return { code: EXIT.refused, message: error.message }
  if (error instanceof ConnectionError || error instanceof UnreachableError)
    return { code: EXIT.unreachable, message: error.message }
  if (error instanceof ApiError) {
    const request = error.requestId === undefined ? '' : `, request ${error.requestId}`
    return { code: EXIT.refused, message: `${error.message} (${error.code}${request})` }
  }
  if (error instanceof Interrupted || (error as Error).name === 'AbortError') return { code: EXIT.interrupted }
  // The reader of the output closed the pipe, as `head` does.
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') return { code: EXIT.ok }
  throw error
}
