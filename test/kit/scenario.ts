// The opener of scenario files: one engine for all tests of a file, a client of its HTTP interface, and a clock that the tests
// move. The tests share the engine, so `workflow` and `start` give every workflow a unique name.

import { openBarrier } from './engine/barrier.ts'
import { type OpenEngine, type OpenOptions, openEngine } from './engine/engine-in-process.ts'
import { JumpClock } from './engine/jump-clock.ts'
import type { Api } from './http/api.ts'
import type { Handler, PlainRunner } from './runner/plain-runner.ts'
import type { RunnerRecord } from './runner/runner-record.ts'
import { unique } from './temp.ts'

export interface ScenarioOptions extends OpenOptions {
  /** The machine's clock, for tests whose waits are a few milliseconds. By default tests move the clock. */
  realTime?: boolean
}

interface WorkflowOptions {
  /** Default: a name that no other test of the process uses. */
  name?: string
  /** Fields of the registration other than the name: triggers, retry, flow control. */
  registration?: Record<string, unknown>
  app?: string
  runner?: string
  /** Further workflows of the same runner. */
  others?: Record<string, Handler>
}

interface Workflow {
  name: string
  app: string
  runner: PlainRunner
  record: RunnerRecord
}

interface Started extends Workflow {
  runId: string
}

export interface Scenario {
  engine: OpenEngine
  api: Api
  url: string
  /** The engine's clock, unless the scenario runs in real time. */
  clock: JumpClock
  /** Registers a runner that serves one workflow. */
  workflow(handler: Handler, options?: WorkflowOptions): Promise<Workflow>
  /** Starts a run of a new workflow with an event of the workflow's name. */
  start(handler: Handler, options?: WorkflowOptions & { data?: unknown }): Promise<Started>
  /** Resolves when everything due at the call has been claimed. */
  barrier(): Promise<void>
}

export async function scenario({ realTime = false, ...options }: ScenarioOptions = {}): Promise<Scenario> {
  const clock = options.clock ?? new JumpClock()
  const engine = await openEngine(realTime ? options : { ...options, clock })
  const { api, url } = engine
  let opened: Promise<() => Promise<void>> | undefined

  async function workflow(handler: Handler, given: WorkflowOptions = {}): Promise<Workflow> {
    const { name = unique('workflow'), registration, others, ...identity } = given
    const definition = registration === undefined ? handler : { handler, registration }
    const runner = await engine.runner({ ...identity, workflows: { [name]: definition, ...others } })
    return { name, app: runner.app, runner, record: runner.record }
  }

  async function start(handler: Handler, { data, ...given }: WorkflowOptions & { data?: unknown } = {}) {
    const registered = await workflow(handler, given)
    const { name } = registered
    const { runId } = await api.send(data === undefined ? { name } : { name, data })
    return { ...registered, runId }
  }

  async function barrier(): Promise<void> {
    opened ??= openBarrier(engine)
    await (await opened)()
  }

  return { engine, api, url, clock, workflow, start, barrier }
}
