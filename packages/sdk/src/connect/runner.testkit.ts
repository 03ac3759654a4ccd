// Starts a Connect runner with three workflows and a scripted engine. Shared by the tests of the Connect runner.

import { onTestFinished } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { deferred } from '../run/deferred.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { type Connection, ScriptedEngine, type ScriptedEngineOptions } from './engine.testkit.ts'
import { type ConnectedRunner, type ConnectOptions, connect } from './index.ts'

/** Starts a scripted engine that listens until the test ends. */
export async function open(options: ScriptedEngineOptions = {}): Promise<ScriptedEngine> {
  const engine = await new ScriptedEngine(options).open()
  onTestFinished(() => engine.close())
  return engine
}

interface StartedRunner extends ConnectedRunner {
  /** Log lines of the runner. */
  readonly logged: string[]
  /** Events of the runner's step callbacks. */
  readonly started: string[]
  /** Lets the step of workflow `held` finish. */
  release(): void
}

/** Starts a runner `r1` with three workflows: `echo` returns at once, `steps` has two steps, `held` has one held step. */
export function start(engine: ScriptedEngine, options: Partial<ConnectOptions> = {}): StartedRunner {
  const logged: string[] = []
  const started: string[] = []
  const held = deferred()
  const workflows = [
    createWorkflow({ name: 'echo', triggers: { event: 'e' } }, ({ event }) => event.data),
    createWorkflow({ name: 'steps', triggers: { event: 'e' } }, async ({ step }) => {
      await step.run('one', () => void started.push('one'))
      await step.run('two', () => void started.push('two'))
      return 'done'
    }),
    createWorkflow({ name: 'held', triggers: { event: 'e' } }, async ({ step }) => {
      await step.run('wait', async ({ signal }) => {
        started.push('held')
        signal.addEventListener('abort', () => started.push(`aborted: ${signal.reason.message}`))
        await held.promise
      })
    }),
  ]
  const runner = connect({
    app: 'shop',
    runner: 'r1',
    workflows,
    engineUrl: engine.url,
    handleSignals: false,
    retryInitialMs: 2,
    closeTimeoutMs: 5_000,
    log: (level, message) => void logged.push(`${level} ${message.replaceAll(engine.url, 'ENGINE')}`),
    ...options,
  })
  onTestFinished(async () => {
    held.resolve()
    await engine.close()
    await runner.close()
  })
  const { ready, close } = runner
  return {
    ready,
    get connected() {
      return runner.connected
    },
    close,
    logged,
    started,
    release: held.resolve,
  }
}

/** Returns the n-th connection, once the runner has sent its registration on it. */
export function registered(engine: ScriptedEngine, n = 1): Promise<Connection> {
  const look = () => engine.connections[n - 1]?.of('runner.register')[0] && engine.connections[n - 1]
  return until(look, { what: `registration ${n}` }) as Promise<Connection>
}

export function resultOf(connection: Connection, id: string) {
  const look = () => connection.of('invoke.result').find(frame => frame.id === id)
  return until(look, { what: `the result of ${id}` })
}
