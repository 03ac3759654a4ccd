// A runner in its own process, which some of its steps end, under a supervisor that starts it again. For tests of what happens
// to the other passes.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'
import { unique } from '../temp.ts'

const dist = fileURLToPath(new URL('../../../packages/sdk/dist', import.meta.url))
const PROGRAM = `
  import { appendFileSync, readFileSync } from 'node:fs'
  import { setTimeout as pause } from 'node:timers/promises'
  import { createWorkflow, NonRetriableError } from '${dist}/index.js'
  import { connect } from '${dist}/connect.js'
  import { serve } from '${dist}/node.js'
  const { app, transport, engineUrl, port, handlerRetries, crashMs, longMs, undone } = JSON.parse(process.argv[1])
  const step = (name, run) => createWorkflow({ name: app + '-' + name, handlerRetries }, ({ step }) => step.run(name, run))
  const workflows = [
    step('crash', async () => {
      await pause(crashMs)
      process.kill(process.pid, 'SIGKILL')
      await pause(60_000)
    }),
    step('long', () => pause(longMs, 'done')),
    createWorkflow({ name: app + '-saga', handlerRetries }, async ({ step }) => {
      for (const name of ['car', 'hotel', 'flight'])
        await step.run(name, () => name, {
          rollback: async () => {
            appendFileSync(undone, name + ' ')
            if (name !== 'hotel' || readFileSync(undone, 'utf8').split('hotel').length > 2) return
            process.kill(process.pid, 'SIGKILL')
            await pause(60_000)
          },
        })
      throw new NonRetriableError('nothing is left')
    }),
  ]
  const options = { app, workflows, engineUrl, log: () => {} }
  if (transport === 'connect') connect(options)
  else await serve({ ...options, port, allowUnsigned: true })`

export interface MortalRunnerOptions {
  transport: 'http' | 'connect'
  engineUrl: string
  /** Tries of a pass of each workflow. */
  handlerRetries: number
  /** How long the step `crash` runs before it ends the process. */
  crashMs: number
  longMs: number
  /** The file with the names of the saga's steps whose rollbacks began. The rollback of `hotel` ends the process, once. */
  undone?: string
  /** For HTTP. */
  port?: number
}

export class MortalRunner {
  readonly app = unique('mortal')
  readonly crash = `${this.app}-crash`
  readonly long = `${this.app}-long`
  readonly saga = `${this.app}-saga`
  /** How often the process has ended. */
  deaths = 0
  readonly #options: MortalRunnerOptions
  #process: ChildProcess | undefined
  #isOver = false

  constructor(options: MortalRunnerOptions) {
    this.#options = options
    onCleanup(() => this.stop())
  }

  start(): this {
    const options = JSON.stringify({ app: this.app, ...this.#options })
    this.#process = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM, options], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }).once('exit', () => {
      if (this.#isOver) return
      this.deaths++
      this.start()
    })
    return this
  }

  stop(): void {
    this.#isOver = true
    this.#process?.kill('SIGKILL')
  }
}
