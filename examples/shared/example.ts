// The frame of an example's `main.ts`: an engine, a runner, a story told with a client, and an end of everything.

import { type Client, createClient } from '@perdure/client'
import { type Environment, type StartedEngine, startEngine, startRunner } from './processes.ts'

const STORY_MS_MAX = 60_000

export interface ExampleOptions {
  /** Script of the runner. */
  runner: URL
  /** Settings of the engine. */
  engineEnv?: Environment
  /** Settings of the runner, beside the engine's URL. */
  runnerEnv?: Environment
  apiKey?: string
}

export interface Stage {
  readonly engine: StartedEngine
  readonly client: Client
}

/** Tells the story and stops what was started. Rejects, which ends the process with code 1, when it goes wrong. */
export async function runExample(
  { runner, engineEnv, runnerEnv, apiKey }: ExampleOptions,
  story: (stage: Stage) => Promise<void>,
): Promise<void> {
  // An end in the middle is an end of all processes: those that were started go with this one.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  const engine = await startEngine(engineEnv)
  try {
    const started = await startRunner(runner, { ENGINE_URL: engine.url, ...runnerEnv })
    try {
      await inTime(story({ engine, client: createClient({ url: engine.url, apiKey }) }))
    } finally {
      await started.stop()
    }
  } finally {
    await engine.stop()
  }
  process.stdout.write('\nas told\n')
}

/** Sends an event that starts one run; answers the run's id. */
export async function startRun(client: Client, name: string, data: unknown): Promise<string> {
  const { runId } = await client.sendEvent({ body: { name, data } })
  if (runId === undefined) throw new Error(`The event ${name} started no run.`)
  return runId
}

/** A number from the environment, for whoever runs the example faster or slower. */
export function numberSetting(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a number above 0`)
  return value
}

async function inTime(story: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not told within ${STORY_MS_MAX} ms.`)), STORY_MS_MAX)
  })
  await Promise.race([story, late]).finally(() => clearTimeout(timer))
}
