// A runner in its own process, which a test kills and starts again. Its runs are to be undone, and a file on disk records its
// actions: whatever kills the process, the lines that it has written remain.

import { existsSync, readFileSync } from 'node:fs'
import { RunnerProcess, SDK_DIST } from './runner-process.ts'

const PROGRAM = `
  import { randomUUID } from 'node:crypto'
  import { appendFileSync } from 'node:fs'
  import { setTimeout as pause } from 'node:timers/promises'
  import { createWorkflow, NonRetriableError } from '${SDK_DIST}/index.js'
  import { connect } from '${SDK_DIST}/connect.js'
  import { serve } from '${SDK_DIST}/node.js'
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
  /** The id of the runner. Its successive processes share it. */
  runner: string
  transport: 'http' | 'connect'
  /** An address that stays the same. */
  engineUrl: string
  /** The file with a line for each beginning and each end of a callback. */
  ledger: string
  /** The steps of each run. All of them are to be undone. */
  steps: number
}

/** A line of the ledger. */
export interface SagaLine {
  saga: string
  name: string
  /** The idempotency key of a rollback. */
  key: string
  /** Unique for each execution, and its result. */
  token: string
  what: 'began' | 'done'
}

export class SagaRunner extends RunnerProcess {
  constructor(options: SagaRunnerOptions) {
    super(PROGRAM, options)
  }
}

/** The complete lines of a ledger: a kill may cut off the last one. */
export function readLedger(file: string): SagaLine[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as SagaLine)
}
