// A runner of the SDK in its own process, which a test kills and starts again.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'

/** The folder of the SDK's modules. Programs of runners import from it. */
export const SDK_DIST = fileURLToPath(new URL('../../../packages/sdk/dist', import.meta.url))

export class RunnerProcess {
  readonly #program: string
  readonly #options: object
  #process: ChildProcess | undefined

  /** `program`: an ES module that reads the options as JSON from `process.argv[1]`. */
  constructor(program: string, options: object) {
    this.#program = program
    this.#options = options
    onCleanup(() => this.kill9())
  }

  start(): this {
    const args = ['--input-type=module', '--eval', this.#program, JSON.stringify(this.#options)]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    return this
  }

  /** Resolves when the process has begun every call received before, or has ended. The program must answer messages. */
  async caughtUp(): Promise<void> {
    const running = this.#process
    if (!running?.connected) return
    const answered = Promise.race([once(running, 'message'), once(running, 'exit')])
    running.send('caught up?')
    await answered
  }

  /** Kills the process. It is gone when this resolves. */
  async kill9(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const exit = once(running, 'exit')
    running.kill('SIGKILL')
    await exit
  }
}
