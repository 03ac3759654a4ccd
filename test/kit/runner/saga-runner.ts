// A runner in a process of its own that a test kills and starts again. Its runs are to be undone, and a file on disk has what it did:
// whatever kills the process leaves the lines that it has written.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../cleanup.ts'

const dist = fileURLToPath(new URL('../../../packages/sdk/dist', import.meta.url))
const PROGRAM = `
  import { randomUUID } from 'node:crypto'
  import { appendFileSync } from 'node:fs'
  import { setTimeout as pause } from 'node:timers/promises'
  import { createWorkflow, NonRetriableError } from '${dist}/index.js'
  import { connect } from '${dist}/connect.js'
  import { serve } from '${dist}/node.js'
  const { app, runner, transport, engineUrl, ledger, steps } = JSON.parse(process.argv[1])
  process.on('message', () => process.send('done')).on('disconnect', () => process.exit())
  const act = async (saga, name, key) => {
    const token = randomUUID()
    const note = what => appendFileSync(ledger, JSON.stringify({ saga, name, key, token, what }) + '\\n')
    note('began')
    await pause(5)
    note('done')
    return token
  }
  const saga = createWorkflow(
    { name: app, handlerRetries: 1000, onCancel: ({ event, step }) => step.run('tell', () => act(event.data.saga, 'tell', '')) },
    async ({ event, step }) => {
      const { saga, fails } = event.data
      for (let i = 0; i < steps; i++)
        await step.run('step ' + i, () => i, {
          rollback: (_, { idempotencyKey }) => act(saga, 'rollback:step ' + i, idempotencyKey),
        })
      if (fails) throw new NonRetriableError('nothing is left')
      await step.waitForEvent('nothing', { event: app + '/never' })
    },
  )
  const options = { app, runner, workflows: [saga], engineUrl, log: () => {} }
  if (transport === 'connect') connect(options)
  else await serve({ ...options, port: 0, allowUnsigned: true })`

export interface SagaRunnerOptions {
  app: string
  /** The id of the runner, which its processes have one after the other. */
  runner: string
  transport: 'http' | 'connect'
  /** An address that stays the same. */
  engineUrl: string
  /** The file with a line for each beginning and each end of a callback. */
  ledger: string
  /** The steps of each run, all of which are to be undone. */
  steps: number
}

/** A line of the ledger. */
export interface SagaLine {
  saga: string
  name: string
  /** The idempotency key of a rollback. */
  key: string
  /** Another one for each execution, and its result. */
  token: string
  what: 'began' | 'done'
}

export class SagaRunner {
  readonly #options: SagaRunnerOptions
  #process: ChildProcess | undefined

  constructor(options: SagaRunnerOptions) {
    this.#options = options
    onCleanup(() => this.kill9())
  }

  start(): this {
    const args = ['--input-type=module', '--eval', PROGRAM, JSON.stringify(this.#options)]
    this.#process = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    return this
  }

  /** Resolves when the process has begun with every call that it had received before, or has ended. */
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

/** The whole lines of a ledger: a kill may cut the last one off. */
export function readLedger(file: string): SagaLine[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as SagaLine)
}
