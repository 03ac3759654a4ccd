// Logs the state of a runner: one line for each change. Used by the registrations and the Connect runner.

type StateLogLevel = 'info' | 'warn' | 'error'

/** Remembers the state of a runner, and writes to the runner's `log` option, by default to the console. */
export class StateLog {
  readonly #log: ((level: StateLogLevel, message: string) => void) | undefined
  #state = ''

  constructor(log: ((level: StateLogLevel, message: string) => void) | undefined) {
    this.#log = log
  }

  /** Sets the state. Returns whether it has changed. */
  change(state: string): boolean {
    const changed = this.#state !== state
    this.#state = state
    return changed
  }

  write(level: StateLogLevel, message: string): void {
    if (this.#log) this.#log(level, message)
    else console[level](`perdure: ${message}`)
  }
}
