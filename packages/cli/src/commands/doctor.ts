// `perdure doctor`: passes its flags, those of `perdure serve`, to the engine's checks and prints the findings.

import type { Command } from 'commander'
import { EXIT } from '../command-line/exit.ts'
import { parseFlags } from '../command-line/flags.ts'
import { painter, wantsColour } from '../output/colour.ts'

const HELP = `Usage: perdure doctor [--json] [--flag value ...]

check everything that an engine with these settings depends on

The flags are those of perdure serve, each also an ENGINE_* variable. With ENGINE_URL (and ENGINE_API_KEY), the engine
at that address and its runners are checked too. It changes nothing; --json prints a line for each finding.

Exit codes: 0 no error was found (warnings do not count), 1 an error was found, 2 bad usage

Examples:
  perdure doctor
  perdure doctor --store postgres://engine@db/perdure --json | jq -r 'select(.verdict == "error") | .message'`

const COLOURS = { ok: 'green', warning: 'yellow', error: 'red' } as const

/** Lists the command in the help. Its flags are the engine's, so `main` passes it the arguments unparsed. */
export function listDoctor(program: Command): void {
  program.command('doctor').description('check settings, store, disk and port, and report what is wrong')
}

/** Runs the checks and returns the exit code. The engine is loaded only here. */
export async function runDoctor(args: readonly string[]): Promise<number> {
  const { examine, FLAGS } = await import('@perdure/engine')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  if (args.includes('--help') || args.includes('-h')) {
    print(HELP)
    return EXIT.ok
  }
  const json = args.includes('--json')
  const flags = parseFlags(
    args.filter(arg => arg !== '--json'),
    FLAGS,
  )
  const paint = painter(wantsColour(process.stdout, process.env))
  let errors = 0
  for await (const finding of examine({ env: process.env, flags })) {
    const { check, verdict, message } = finding
    if (verdict === 'error') errors++
    print(
      json ? JSON.stringify(finding) : `${paint(COLOURS[verdict], verdict.padEnd(7))}  ${check}: ${message}`,
    )
  }
  return errors === 0 ? EXIT.ok : EXIT.refused
}
