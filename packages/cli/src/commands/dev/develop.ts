// Runs `perdure dev`: starts the engine, then the runner and the watch on its code, and stops them in reverse order.

import { relative } from 'node:path'
import { createClient, DEFAULT_URL } from '@perdure/client'
import type { LaunchedEngine, LaunchOptions } from '@perdure/engine/serve'
import { DEV_STORE, recordDev } from '../../command-line/dev-record.ts'
import { EXIT } from '../../command-line/exit.ts'
import { painter, wantsColour } from '../../output/colour.ts'
import type { DevArguments } from './arguments.ts'
import { DevLog } from './dev-log.ts'
import { DevRunner } from './dev-runner.ts'
import { DOTENV, readDotenv } from './dotenv.ts'
import { RunReporter } from './run-reporter.ts'
import { watchSources } from './watch.ts'

interface DevOptions extends DevArguments {
  env: NodeJS.ProcessEnv
  launchUnlessStopped(options: LaunchOptions, stopped: Promise<void>): Promise<LaunchedEngine | undefined>
}

/**
 * Settings that differ from `serve`: a separate store, a short drain, so that stopping is quick, and webhooks to this machine,
 * where the services of a project under development listen.
 */
const DEV_SETTINGS = {
  ENGINE_STORE: DEV_STORE,
  ENGINE_DRAIN_TIMEOUT: '3s',
  ENGINE_WEBHOOK_ALLOW: '127.0.0.0/8,::1',
}

/** Runs until a signal ends it; returns the exit code. Throws the errors of starting the engine. */
export async function develop(given: DevOptions): Promise<number> {
  const { entry, flags, env, quiet, launchUnlessStopped } = given
  const stopped = untilStopped()
  const paint = painter(wantsColour(process.stdout, env))
  const log = new DevLog(process.stdout, paint)
  const options = { env: { ...DEV_SETTINGS, ...env }, flags, log: { write: (line: string) => log.engine(line) } }
  const engine = await launchUnlessStopped(options, stopped)
  if (!engine) return EXIT.ok
  const forget = recordDev(recordOf(engine.url, given))
  for (const line of greeting(engine, given)) log.say(line)
  const reporting = new AbortController()
  const client = createClient({ url: engine.url, apiKey: env.ENGINE_API_KEY || undefined })
  const reporter = new RunReporter({ client, write: line => log.run(line), paint, signal: reporting.signal })
  const reported = quiet ? undefined : reporter.report()
  const end = entry === undefined ? undefined : run({ entry, flags, env, log, url: engine.url })
  await stopped
  log.say('ending')
  await end?.()
  reporting.abort()
  await reported
  await engine.stop()
  forget()
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
    dotenv: readDotenv,
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

/** The record for the other commands in this folder. A database's address may contain a password, so it is left out. */
function recordOf(url: string, { flags, env }: DevOptions): Parameters<typeof recordDev>[0] {
  const isOfFile = flags['store-file'] !== undefined || env.ENGINE_STORE_FILE !== undefined
  const store = flags.store ?? (isOfFile ? undefined : env.ENGINE_STORE || DEV_STORE)
  return { pid: process.pid, url, ...(store?.startsWith('sqlite:') && { store }) }
}

function greeting({ url, banner }: LaunchedEngine, { entry, flags, env }: DevOptions): string[] {
  const where = url === DEFAULT_URL ? '' : ` --url ${url}`
  const variables = Object.keys(readDotenv()).length
  const allowed = flags['webhook-allow'] ?? env.ENGINE_WEBHOOK_ALLOW ?? DEV_SETTINGS.ENGINE_WEBHOOK_ALLOW
  return [
    ...banner,
    '',
    `  open ${url}`,
    `  interface    ${url}/openapi.json`,
    ...(variables === 0
      ? []
      : [`  variables    ${variables} from ${DOTENV}; variables that were already set are unchanged`]),
    `  webhooks     may go to ${allowed || 'public addresses only'} (ENGINE_WEBHOOK_ALLOW)`,
    `  watch runs   perdure runs watch${where}`,
    `  send events  perdure events send NAME --data '{}' --wait${where}`,
    entry === undefined
      ? `  runner       none: start one with ENGINE_URL=${url}, or give its file: perdure dev ./src/worker.ts`
      : `  runner       ${relative(process.cwd(), entry)}, restarted when a file changes`,
    '',
  ]
}

/** Resolves at the first signal to end, or when stdout is closed. A second signal ends the process at once. */
function untilStopped(): Promise<void> {
  return new Promise(resolve => {
    let seen = false
    const onSignal = () => {
      if (seen) process.exit(EXIT.interrupted)
      seen = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal)
    process.stdout.on('error', () => resolve())
  })
}
