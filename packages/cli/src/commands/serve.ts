// `perdure serve`: passes its flags, which the engine declares, to the engine and runs it until a signal ends it.

import { parseFlags, type UnparsedCommand } from '../command-line/flags.ts'

export const serve: UnparsedCommand = {
  description: 'run the engine',
  help: flags => `Usage: perdure serve [--flag value ...]

run the engine

Flags, each also an ENGINE_* variable (--drain-timeout is ENGINE_DRAIN_TIMEOUT):
${flags.map(flag => `  --${flag}`).join('\n')}

Examples:
  perdure serve
  perdure serve --port 4888 --store sqlite:./data/engine.db`,
  run: (args, engine) =>
    engine.serve({
      env: process.env,
      flags: parseFlags(args, { known: engine.FLAGS, switches: engine.SWITCHES }),
      print: line => void process.stdout.write(`${line}\n`),
    }),
}
