// The `perdure` command: picks the subcommand and answers its exit code. Bad usage is exit code 2.

import { FLAGS, serve } from '@perdure/engine'
import { parseFlags, UsageError } from './flags.ts'

const HELP = `perdure: a durable workflow engine

  perdure serve [--flag value ...]   run the engine
  perdure help                       show this

Flags of serve, each also an ENGINE_* variable (--drain-timeout is ENGINE_DRAIN_TIMEOUT):
${FLAGS.map(flag => `  --${flag}`).join('\n')}

Examples:
  perdure serve
  perdure serve --port 4888 --store sqlite:./data/engine.db
`

/** Runs one command line (without node and script). */
export async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  if (command === undefined || command === 'help' || args.includes('--help')) {
    process.stdout.write(HELP)
    return 0
  }
  try {
    if (command === 'serve') {
      const print = (line: string) => void process.stdout.write(`${line}\n`)
      return await serve({ env: process.env, flags: parseFlags(rest, FLAGS), print })
    }
    throw new UsageError(`there is no command "${command}"; see perdure help`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`perdure: ${error.message}\n`)
    return 2
  }
}
