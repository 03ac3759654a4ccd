// Runs an example: starts an engine and a runner, calls the example with a client, and stops everything. Called by the
// `main.ts` of each example.

import { type Client, createClient } from 'perdure/client'
import { type Environment, type StartedEngine, startEngine, startRunner } from './processes.ts'

const EXAMPLE_MS_MAX = 60_000

export interface ExampleOptions {
  /** Script of the runner. */
  runner: URL
  /** Environment variables of the engine. */
  engineEnv?: Environment
  /** Environment variables of the runner, besides the engine's URL. */
  runnerEnv?: Environment
  apiKey?: string
  /** The example stays until somebody stops it. */
  isOpen?: boolean
}

export interface ExampleContext {
  readonly engine: StartedEngine
  readonly client: Client
}

/** Runs an example and stops its processes. Rejects when a check fails, which ends the process with code 1. */
export async function runExample(
  { runner, engineEnv, runnerEnv, apiKey, isOpen = false }: ExampleOptions,
  run: (context: ExampleContext) => Promise<void>,
): Promise<void> {
  // The exit of this process also ends the processes that it has started.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  const engine = await startEngine(engineEnv)
  try {
    const started = await startRunner(runner, { ENGINE_URL: engine.url, ...runnerEnv })
    try {
      const example = run({ engine, client: createClient({ url: engine.url, apiKey }) })
      await (isOpen ? example : inTime(example))
    } finally {
      await started.stop()
    }
  } finally {
    await engine.stop()
  }
  process.stdout.write('\nall checks passed\n')
}

/** Sends an event that starts one run, and returns the run's id. */
export async function startRun(client: Client, name: string, data: unknown): Promise<string> {
  const { runId } = await client.sendEvent({ body: { name, data } })
  if (runId === undefined) throw new Error(`The event ${name} started no run.`)
  return runId
}

/** Reads a positive number from the environment, which makes an example faster or slower. */
export function numberSetting(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a number above 0`)
  return value
}

async function inTime(example: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `The example did not end within ${EXAMPLE_MS_MAX} ms.`
    timer = setTimeout(() => reject(new Error(message)), EXAMPLE_MS_MAX)
  })
  await Promise.race([example, late]).finally(() => clearTimeout(timer))
}
