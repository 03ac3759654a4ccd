// `perdure conform`: checks any runner against the wire protocol, and reports which rules it keeps.

import { type Command, Option } from 'commander'
import { type LocalContext, localCommand } from '../../command-line/commands.ts'
import { EXIT, RefusedError } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { listOf, wholeNumber } from '../../command-line/options.ts'
import type { Paint } from '../../output/colour.ts'
import { jsonLine, plain } from '../../output/text.ts'
import { GROUPS, type Group } from './groups.ts'
import { Fault } from './runner.ts'
import type { Verdict } from './suite.ts'

interface ConformOptions {
  app: string
  runner?: string
  signingKey?: string
  only?: Group[]
  skip?: Group[]
  timeout: number
}

const TIMEOUT_MS = 10_000
const TIMEOUT_MS_MAX = 600_000

/** Adds `perdure conform` to the program. */
export function conformCommand(program: Command): void {
  const command = program
    .command('conform <url>')
    .description('check a runner in any language against the wire protocol')
    .addOption(new Option('--app <name>', 'the app of the runner').default('conform'))
    .addOption(
      new Option('--runner <id>', 'the id that the runner registers with, to check the recipient of signatures'),
    )
    .addOption(
      new Option('--signing-key <key>', 'the key that the runner checks signatures with').env('ENGINE_SIGNING_KEY'),
    )
    .addOption(new Option('--only <groups>', `only these groups: ${GROUPS.join(', ')}`).argParser(listOf(GROUPS)))
    .addOption(new Option('--skip <groups>', 'not these groups').argParser(listOf(GROUPS)).conflicts('only'))
    .addOption(
      new Option('--timeout <ms>', 'time for each answer')
        .argParser(wholeNumber(`from 1 to ${TIMEOUT_MS_MAX}`, 1, TIMEOUT_MS_MAX))
        .default(TIMEOUT_MS),
    )
  localCommand<ConformOptions>(
    command,
    [
      'perdure conform http://127.0.0.1:3001/invoke',
      'perdure conform http://127.0.0.1:3001/invoke --only sequences,retries --json',
      'perdure conform ws://127.0.0.1:4777     # listens there for a Connect runner',
    ],
    check,
  )
}

async function check(context: LocalContext<ConformOptions>, given = ''): Promise<number> {
  const { terminal, options, json, signal } = context
  const { app, runner, signingKey, only, skip, timeout: timeoutMs } = options
  const counts: Record<Verdict['verdict'], number> = { passed: 0, failed: 0, skipped: 0 }
  const { conform } = await import('./suite.ts')
  const verdicts = conform({
    url: urlOf(given),
    app,
    runner,
    signingKey: signingKey || undefined,
    timeoutMs,
    includes: group => only?.includes(group) ?? !skip?.includes(group),
    signal,
    onListening: address => terminal.say(`listening: start the runner with ENGINE_URL=${address}`),
  })
  try {
    for await (const verdict of verdicts) {
      counts[verdict.verdict]++
      await terminal.out(json ? jsonLine(verdict) : lineOf(verdict, terminal.paint))
    }
  } catch (error) {
    if (error instanceof Fault) throw new RefusedError(error.message)
    throw error
  }
  const { passed, failed, skipped } = counts
  terminal.say(`${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
  return failed === 0 ? EXIT.ok : EXIT.refused
}

const COLOURS = { passed: 'green', failed: 'red', skipped: 'yellow' } as const

function lineOf({ group, check, verdict, message }: Verdict, paint: Paint): string {
  const line = `${paint(COLOURS[verdict], verdict.padEnd(7))}  ${plain(`${group}: ${check}`)}`
  return message === undefined ? line : `${line}\n         ${plain(message)}`
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is not a URL`)
  const url = new URL(text)
  if (!['http:', 'https:', 'ws:'].includes(url.protocol))
    throw new UsageError(`the URL must begin with http://, https:// or ws://, not ${url.protocol}`)
  return url
}
