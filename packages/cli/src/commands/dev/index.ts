// `perdure dev`: the engine and one runner, started together and shown together, for development.

import type { Command } from 'commander'
import { EXIT } from '../../exit.ts'
import { develop } from './develop.ts'
import { readDevWords } from './words.ts'

const EXAMPLES = `
Examples:
  perdure dev ./src/worker.ts
  perdure dev ./src/worker.ts --port 4888
  perdure dev                            # the engine alone`

/** Lists the command. Its flags are those of `serve`, so `main` gives it the words as they are. */
export function listDev(program: Command): void {
  program
    .command('dev')
    .argument('[entry]', 'the file that starts the runner')
    .description('run the engine and a runner that restarts when its code changes: for development')
}

/** Runs until a signal ends it; answers the exit code. The engine is loaded only here. */
export async function runDev(words: readonly string[]): Promise<number> {
  const { FLAGS, launchEngine, LaunchError } = await import('@perdure/engine')
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${helpOf(FLAGS)}\n`)
    return EXIT.ok
  }
  try {
    return await develop({ ...readDevWords(words, FLAGS), env: process.env, launchEngine })
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    process.stderr.write(`perdure: ${error.message}\n`)
    return EXIT.usage
  }
}

function helpOf(flags: readonly string[]): string {
  return `Usage: perdure dev [ENTRY] [--flag value ...]

run the engine and a runner that restarts when its code changes: for development

ENTRY is the file that starts the runner, JavaScript or TypeScript. It finds the engine in ENGINE_URL. Without it the
engine runs alone.

Flags are those of perdure serve; --store is sqlite:./.perdure/dev.db unless given:
${flags.map(flag => `  --${flag}`).join('\n')}
${EXAMPLES}`
}
