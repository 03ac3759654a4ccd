// `perdure doctor`: hands its flags, which are those of `perdure serve`, to the engine's examination and tells what it finds.

import type { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { parseFlags } from '../flags.ts'
import { painter, wantsColour } from '../output/colour.ts'

const HELP = `Usage: perdure doctor [--json] [--flag value ...]

look at everything an engine with these settings would stand on

The flags are those of perdure serve, each also an ENGINE_* variable. With ENGINE_URL (and ENGINE_API_KEY) the engine
there is asked for its runners. It changes nothing; --json prints a line for each finding.

Exit codes: 0 nothing is wrong (warnings aside), 1 something is, 2 bad usage

Examples:
  perdure doctor
  perdure doctor --store postgres://engine@db/perdure --json | jq -r 'select(.verdict == "error") | .message'`

const COLOURS = { ok: 'green', warning: 'yellow', error: 'red' } as const

/** Lists the command. Its flags are the engine's own, so `main` gives it the words as they are. */
export function listDoctor(program: Command): void {
  program
    .command('doctor')
    .description('say what is right and what is not with settings, store, disk and port')
}

/** Answers the exit code. The engine is loaded only here. */
export async function runDoctor(words: readonly string[]): Promise<number> {
  const { examine, FLAGS } = await import('@perdure/engine')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  if (words.includes('--help') || words.includes('-h')) {
    print(HELP)
    return EXIT.ok
  }
  const json = words.includes('--json')
  const flags = parseFlags(
    words.filter(word => word !== '--json'),
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
