// `perdure dev`: runs the engine and one runner together, for development.

import type { Command } from 'commander'
import { EXIT } from '../../command-line/exit.ts'
import { parseDevArguments } from './arguments.ts'
import { develop } from './develop.ts'

const EXAMPLES = `
Examples:
  perdure dev ./src/worker.ts
  perdure dev ./src/worker.ts --port 4888
  perdure dev                            # the engine alone`

/** Lists the command in the help. Its flags are those of `serve`, so `main` passes it the arguments unparsed. */
export function listDev(program: Command): void {
  program
    .command('dev')
    .argument('[entry]', 'the file that starts the runner')
    .description('run the engine and a runner that restarts when its code changes: for development')
}

/** Runs until a signal ends it; returns the exit code. The engine is loaded only here. */
export async function runDev(args: readonly string[]): Promise<number> {
  const { FLAGS, launchEngine, LaunchError } = await import('@perdure/engine')
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${helpOf(FLAGS)}\n`)
    return EXIT.ok
  }
  try {
    return await develop({ ...parseDevArguments(args, FLAGS), env: process.env, launchEngine })
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
