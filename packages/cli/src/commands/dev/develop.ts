// Runs `perdure dev`: starts the engine, then the runner and the watch on its code, and stops them in the opposite
// order.

import { relative } from 'node:path'
import { DEFAULT_URL } from '@perdure/client'
import type { LaunchedEngine, LaunchOptions } from '@perdure/engine'
import { EXIT } from '../../command-line/exit.ts'
import { painter, wantsColour } from '../../output/colour.ts'
import type { DevArguments } from './arguments.ts'
import { DevLog } from './dev-log.ts'
import { DevRunner } from './dev-runner.ts'
import { watchSources } from './watch.ts'

interface DevOptions extends DevArguments {
  env: NodeJS.ProcessEnv
  launchUnlessStopped(options: LaunchOptions, stopped: Promise<void>): Promise<LaunchedEngine | undefined>
}

/** Settings that differ from `serve`: a store of its own, and a short drain, so that stopping is quick. */
const DEV_SETTINGS = { ENGINE_STORE: 'sqlite:./.perdure/dev.db', ENGINE_DRAIN_TIMEOUT: '3s' }

/** Runs until a signal ends it; returns the exit code. Throws the errors of starting the engine. */
export async function develop({ entry, flags, env, launchUnlessStopped }: DevOptions): Promise<number> {
  const stopped = untilStopped()
  const log = new DevLog(process.stdout, painter(wantsColour(process.stdout, env)))
  const options = { env: { ...DEV_SETTINGS, ...env }, flags, log: { write: (line: string) => log.engine(line) } }
  const engine = await launchUnlessStopped(options, stopped)
  if (!engine) return EXIT.ok
  for (const line of greeting(engine, entry)) log.say(line)
  const end = entry === undefined ? undefined : run({ entry, flags, env, log, url: engine.url })
  await stopped
  log.say('ending')
  await end?.()
  await engine.stop()
  return EXIT.ok
}

interface RunOptions {
  entry: string
  flags: Record<string, string>
  env: NodeJS.ProcessEnv
  log: DevLog
  url: string
}

/** Starts the runner and watches its code; returns a function that ends both. */
function run({ entry, flags, env, log, url }: RunOptions): () => Promise<void> {
  const signingKey = flags['signing-key'] ?? env.ENGINE_SIGNING_KEY
  const runner = new DevRunner({
    entry,
    env: { ENGINE_URL: url, ...(signingKey !== undefined && { ENGINE_SIGNING_KEY: signingKey }) },
    onLine: line => log.runner(line),
    onNote: note => log.say(note),
  })
  const stopWatching = watchSources({
    directory: process.cwd(),
    onChange: file => {
      log.say(`${file} changed: restarting the runner`)
      runner.restart()
    },
    onProblem: problem => log.say(problem),
  })
  runner.restart()
  return async () => {
    stopWatching()
    await runner.end()
  }
}

function greeting({ url, banner }: LaunchedEngine, entry: string | undefined): string[] {
  const where = url === DEFAULT_URL ? '' : ` --url ${url}`
  return [
    ...banner,
    '',
    `  open ${url}`,
    `  interface    ${url}/openapi.json`,
    `  watch runs   perdure runs watch${where}`,
    `  send events  perdure events send NAME --data '{}' --wait${where}`,
    entry === undefined
      ? `  runner       none: start one with ENGINE_URL=${url}, or give its file: perdure dev ./src/worker.ts`
      : `  runner       ${relative(process.cwd(), entry)}, restarted when a file changes`,
    '',
  ]
}

/** Resolves at the first SIGINT or SIGTERM, or when stdout is closed. A second signal ends the process at once. */
function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    let seen = false
    const onSignal = () => {
      if (seen) process.exit(EXIT.interrupted)
      seen = true
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    process.stdout.on('error', () => resolve())
  })
}
