// Logs the state of a runner: one line for each change, for any number of sockets and attempts. Used by the registrations
// and the Connect runner.

import type { RegisterReply } from '@perdure/protocol'
import { type RunnerLog, toConsole } from '../run/runner-log.ts'
import type { PerdureError } from '../wire/errors.ts'

/** How a runner reports its state. */
export interface StateLogOptions {
  /** Called when registering or the connection begins to fail, and again when the engine refuses for another reason. */
  onError?: (error: PerdureError) => void
  /** Called once for each change of state, and for errors outside of steps. Default: writes to the console. */
  log?: RunnerLog
}

export class StateLog {
  readonly #options: StateLogOptions
  #state = ''

  constructor(options: StateLogOptions) {
    this.#options = options
  }

  /** Ignores `keyMatches`, which is about one key only: the runner has verified the engine's signature with all of them. */
  registered({ runnerId, warnings = [] }: RegisterReply, message: string): void {
    if (!this.#change(`registered ${runnerId} ${warnings.join()}`)) return
    this.write('info', message)
    for (const warning of warnings) this.write('warn', warning)
  }

  /** `refused`: one side refuses the other; otherwise the runner retries. */
  failed(error: PerdureError, refused: boolean, message: string): void {
    if (!this.#change(refused ? `refused ${error.message}` : 'away')) return
    this.write(refused ? 'error' : 'warn', `${message}: ${error.message}`)
    this.#options.onError?.(error)
  }

  write(level: 'info' | 'warn' | 'error', message: string): void {
    const { log = toConsole } = this.#options
    log(level, message)
  }

  /** Sets the state. Returns whether it has changed. */
  #change(state: string): boolean {
    const changed = this.#state !== state
    this.#state = state
    return changed
  }
}
