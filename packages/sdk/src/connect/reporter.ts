// Tells of a runner's connection: one line for each change, however many sockets and attempts there are.

import type { RegisterReply } from '@perdure/protocol'
import type { SocketEnd } from './failure.ts'
import type { ConnectOptions } from './options.ts'

export class Reporter {
  readonly #engine: string
  readonly #options: Pick<ConnectOptions, 'log' | 'onError'>
  #state = ''

  constructor(engine: string, options: Pick<ConnectOptions, 'log' | 'onError'>) {
    this.#engine = engine
    this.#options = options
  }

  /** That the engine has a key of the runner's is known from the handshake: `keyMatches` is about the first alone. */
  registered({ runnerId, workflows, warnings = [] }: RegisterReply): void {
    if (!this.#changed(`registered ${runnerId} ${warnings.join()}`)) return
    // One without a name is known by an address that the engine makes up anew for each socket.
    const name = runnerId.startsWith('conn:') ? '' : ` as ${runnerId}`
    this.#log('info', `Connected to ${this.#engine}${name}: ${workflows} workflows`)
    for (const warning of warnings) this.#log('warn', warning)
  }

  /** A socket ended; `connected` tells whether others hold. */
  lost({ error, refused }: SocketEnd, connected: boolean): void {
    if (connected || !this.#changed(refused ? `refused ${error.message}` : 'away')) return
    if (refused) this.#log('error', `${this.#engine} refuses this runner: ${error.message}`)
    else this.#log('warn', `No connection to ${this.#engine}, trying on: ${error.message}`)
    this.#options.onError?.(error)
  }

  warned(message: string): void {
    this.#log('warn', `${this.#engine}: ${message}`)
  }

  #changed(state: string): boolean {
    const changed = this.#state !== state
    this.#state = state
    return changed
  }

  #log(level: 'info' | 'warn' | 'error', message: string): void {
    if (this.#options.log) this.#options.log(level, message)
    else console[level](`perdure: ${message}`)
  }
}
