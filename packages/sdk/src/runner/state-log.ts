// Logs the state of a runner: one line for each change, for any number of sockets and attempts. Used by the registrations
// and the Connect runner.

import type { PerdureError } from '@perdure/client'
import type { RegisterReply } from '@perdure/protocol'
import { type LevelLogger, type RunnerLog, runnerLogOf } from '../run/runner-log.ts'

/** How a runner reports its state. */
export interface StateLogOptions {
  /** Called when the registration or the connection begins to fail, and again when the engine refuses for another reason. */
  onError?: (error: PerdureError) => void
  /**
   * Receives a line for each change of state, and for errors outside of steps: a logger (`console`, pino, winston) or a function
   * of level and message. Default: the console.
   */
  log?: RunnerLog | LevelLogger
}

export class StateLog {
  readonly #options: StateLogOptions
  /** Writes a line of the runner's log. */
  readonly write: RunnerLog
  #state = ''

  constructor(options: StateLogOptions) {
    this.#options = options
    this.write = runnerLogOf(options.log)
  }

  /**
   * Writes the engine's warnings, then the runner's `own`. Ignores `keyMatches`, which concerns one key only: the runner has
   * verified the engine's signature with all its keys.
   */
  registered({ runnerId, warnings = [] }: RegisterReply, message: string, own: readonly string[] = []): void {
    if (!this.#change(`registered ${runnerId} ${warnings.join()}`)) return
    this.write('info', message)
    for (const warning of [...warnings, ...own]) this.write('warn', warning)
  }

  /** `refused`: one side refuses the other; otherwise the runner retries. */
  failed(error: PerdureError, refused: boolean, message: string): void {
    if (!this.#change(refused ? `refused ${error.message}` : 'away')) return
    this.write(refused ? 'error' : 'warn', `${message}: ${error.message}`)
    this.#options.onError?.(error)
  }

  /** Sets the state. Returns whether it has changed. */
  #change(state: string): boolean {
    const changed = this.#state !== state
    this.#state = state
    return changed
  }
}

/**
 * Whether a status refuses the request itself, so that a retry gets the same answer: a 4xx other than a timeout or a rate limit.
 */
export function isRefusalStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}
