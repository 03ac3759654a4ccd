// Logs the state of a runner's connection: one line for each change, for any number of sockets and attempts. Used by
// connect.ts.

import type { RegisterReply } from '@perdure/protocol'
import { StateLog } from '../runner/state-log.ts'
import type { SocketEnd } from './failure.ts'
import type { ConnectOptions } from './options.ts'

export class Reporter {
  readonly #engine: string
  readonly #options: Pick<ConnectOptions, 'onError'>
  readonly #log: StateLog

  constructor(engine: string, options: Pick<ConnectOptions, 'log' | 'onError'>) {
    this.#engine = engine
    this.#options = options
    this.#log = new StateLog(options.log)
  }

  /** Ignores `keyMatches`: it is about the runner's first key only, and the handshake has verified all of them. */
  registered({ runnerId, workflows, warnings = [] }: RegisterReply): void {
    if (!this.#log.change(`registered ${runnerId} ${warnings.join()}`)) return
    // Without a runner id the engine invents one for each socket, so the line leaves it out.
    const name = runnerId.startsWith('conn:') ? '' : ` as ${runnerId}`
    this.#log.write('info', `Connected to ${this.#engine}${name}: ${workflows} workflows`)
    for (const warning of warnings) this.#log.write('warn', warning)
  }

  /** A socket ended. `connected`: whether another socket of the runner is registered. */
  lost({ error, refused }: SocketEnd, connected: boolean): void {
    if (connected || !this.#log.change(refused ? `refused ${error.message}` : 'away')) return
    if (refused) this.#log.write('error', `${this.#engine} refuses this runner: ${error.message}`)
    else this.#log.write('warn', `No connection to ${this.#engine}, retrying: ${error.message}`)
    this.#options.onError?.(error)
  }

  warned(message: string): void {
    this.#log.write('warn', `${this.#engine}: ${message}`)
  }
}
