// `perdure dev`: runs the engine and one runner together, for development, until a signal ends it.

import { type UnparsedCommand, UsageError } from '../../command-line/flags.ts'
import { parseDevArguments } from './arguments.ts'
import { develop } from './develop.ts'
import { readDotenv } from './dotenv.ts'

const DESCRIPTION = 'run the engine and a runner that restarts when its code changes: for development'

export const dev: UnparsedCommand = {
  argument: '[entry]',
  description: DESCRIPTION,
  help: flags => `Usage: perdure dev [ENTRY] [--quiet] [--flag value ...]

${DESCRIPTION}

ENTRY is the file that starts the runner, JavaScript or TypeScript. It finds the engine in ENGINE_URL. Without it the
engine runs alone.

The variables of .env in this folder are set for both, unless they are set already.

--quiet leaves out the lines about runs. Webhooks may go to this machine, unless --webhook-allow says otherwise. Other commands in
this folder (keys, verify, runs, ...) use the store and the address of the engine while it runs.

Flags are those of perdure serve; --store is sqlite:./.perdure/dev.db unless given:
${flags.map(flag => `  --${flag}`).join('\n')}

Examples:
  perdure dev ./src/worker.ts
  perdure dev ./src/worker.ts --port 4888
  perdure dev                            # the engine alone`,
  async run(args, { FLAGS, launchUnlessStopped, LaunchError }) {
    try {
      const parsed = parseDevArguments(args, FLAGS)
      return await develop({ ...parsed, env: { ...readDotenv(), ...process.env }, launchUnlessStopped })
    } catch (error) {
      throw error instanceof LaunchError ? new UsageError(error.message) : error
    }
  },
}
