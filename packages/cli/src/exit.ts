// Exit codes, and which one an error ends with.

import { ApiError, ConnectionError } from '@perdure/client'
import { CommanderError } from 'commander'
import { UsageError } from './flags.ts'
import { Interrupted } from './terminal.ts'

export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3, interrupted: 130 } as const

export const EXIT_CODES_HELP = `
Exit codes:
  0    done; of a run that is watched or waited for: it succeeded
  1    the engine refused, or the run failed or was cancelled
  2    bad usage
  3    the engine cannot be reached
  130  interrupted`

/** The exit code of what was thrown, and what there is to say about it. Throws what nobody expects. */
export function exitOf(error: unknown): { code: number; message?: string } {
  if (error instanceof CommanderError) return { code: commanderCode(error) }
  if (error instanceof UsageError) return { code: EXIT.usage, message: error.message }
  if (error instanceof ConnectionError) return { code: EXIT.unreachable, message: error.message }
  if (error instanceof ApiError) {
    const request = error.requestId === undefined ? '' : `, request ${error.requestId}`
    return { code: EXIT.refused, message: `${error.message} (${error.code}${request})` }
  }
  if (error instanceof Interrupted || (error as Error).name === 'AbortError')
    return { code: EXIT.interrupted }
  // Whoever read our output has enough of it.
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') return { code: EXIT.ok }
  throw error
}

/** Commander has said what it has to say. Its own refusals are all bad usage. */
function commanderCode({ code, exitCode }: CommanderError): number {
  return exitCode !== 0 && code.startsWith('commander.') ? EXIT.usage : exitCode
}
