// `perdure serve`: hands its flags, which the engine declares, to the engine.

import type { Command } from 'commander'
import { parseFlags } from '../flags.ts'

const EXAMPLES = `
Examples:
  perdure serve
  perdure serve --port 4888 --store sqlite:./data/engine.db`

/** Lists the command. Its flags are the engine's own, so `main` gives it the words as they are. */
export function listServe(program: Command): void {
  program.command('serve').description('run the engine')
}

/** Runs the engine until a signal ends it; answers the exit code. The engine is loaded only here. */
export async function runServe(words: readonly string[]): Promise<number> {
  const { FLAGS, serve } = await import('@perdure/engine')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  if (words.includes('--help') || words.includes('-h')) {
    print(helpOf(FLAGS))
    return 0
  }
  return serve({ env: process.env, flags: parseFlags(words, FLAGS), print })
}

function helpOf(flags: readonly string[]): string {
  return `Usage: perdure serve [--flag value ...]

run the engine

Flags, each also an ENGINE_* variable (--drain-timeout is ENGINE_DRAIN_TIMEOUT):
${flags.map(flag => `  --${flag}`).join('\n')}
${EXAMPLES}`
}
