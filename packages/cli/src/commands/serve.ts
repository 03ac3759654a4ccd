// `perdure serve`: passes its flags, which the engine declares, to the engine and runs it.

import type { Command } from 'commander'
import { parseFlags } from '../command-line/flags.ts'

const EXAMPLES = `
Examples:
  perdure serve
  perdure serve --port 4888 --store sqlite:./data/engine.db`

/** Lists the command in the help. Its flags are the engine's, so `main` passes it the arguments unparsed. */
export function listServe(program: Command): void {
  program.command('serve').description('run the engine')
}

/** Runs the engine until a signal ends it; returns the exit code. The engine is loaded only here. */
export async function runServe(args: readonly string[]): Promise<number> {
  const { FLAGS, serve } = await import('@perdure/engine')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  if (args.includes('--help') || args.includes('-h')) {
    print(helpOf(FLAGS))
    return 0
  }
  return serve({ env: process.env, flags: parseFlags(args, FLAGS), print })
}

function helpOf(flags: readonly string[]): string {
  return `Usage: perdure serve [--flag value ...]

run the engine

Flags, each also an ENGINE_* variable (--drain-timeout is ENGINE_DRAIN_TIMEOUT):
${flags.map(flag => `  --${flag}`).join('\n')}
${EXAMPLES}`
}
