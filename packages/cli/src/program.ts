// The program that commander parses, with every subcommand, its options and its help. main.ts loads it for the first command line
// that it parses: `perdure serve` and `perdure dev` start without it.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { EXIT_CODES_HELP } from './command-line/exit.ts'
import { packageFile } from './command-line/package-file.ts'
import { auditCommand } from './commands/audit.ts'
import { buffersCommands } from './commands/buffers.ts'
import { bulkCommands } from './commands/bulk.ts'
import { completionCommand } from './commands/completion.ts'
import { conformCommand } from './commands/conform/index.ts'
import { consoleCommand } from './commands/console.ts'
import { enginesCommand } from './commands/engines.ts'
import { eventsCommands } from './commands/events.ts'
import { initCommand } from './commands/init/index.ts'
import { limitsCommand } from './commands/limits.ts'
import { mcpCommand } from './commands/mcp/index.ts'
import { registryCommands } from './commands/registry.ts'
import { runsCommands } from './commands/runs/index.ts'
import { schedulesCommands } from './commands/schedules.ts'
import { statsCommands } from './commands/stats.ts'
import { streamCommand } from './commands/stream.ts'
import { webhooksCommands } from './commands/webhooks/index.ts'
import { withoutKeys } from './output/text.ts'
import { UNPARSED } from './unparsed.ts'

const EXAMPLES = `
Examples:
  perdure dev ./src/worker.ts
  perdure serve
  perdure events send user.signed-up --data '{"name": "Ada"}' --wait
  perdure runs list --status failed
  perdure COMMAND --help`

/** Options of the program, which need none of its commands. */
const VERSION = ['-V', '--version']

/**
 * Makes the program. Commands that open the store import the engine, which is slow to load, so they are added only if `noun` is
 * not one of the other commands.
 */
export async function programFor(noun: string | undefined): Promise<Command> {
  const program = new Command('perdure')
    .description('a durable workflow engine')
    .version(versionOf())
    .exitOverride()
    .showHelpAfterError('(--help shows how)')
    .configureOutput({
      outputError: (text, write) => write(withoutKeys(text.replace(/^error: /, 'perdure: '))),
    })
    .addHelpText('after', `${EXAMPLES}\n${EXIT_CODES_HELP}`)
  for (const [name, { argument, description }] of UNPARSED) {
    const command = program.command(name).description(description)
    if (argument !== undefined) command.argument(argument)
  }
  initCommand(program, versionOf())
  runsCommands(program)
  eventsCommands(program)
  schedulesCommands(program)
  streamCommand(program)
  registryCommands(program)
  statsCommands(program)
  enginesCommand(program)
  limitsCommand(program)
  buffersCommands(program)
  bulkCommands(program)
  auditCommand(program)
  webhooksCommands(program)
  conformCommand(program)
  consoleCommand(program)
  mcpCommand(program)
  completionCommand(program, wholeProgram)
  if (!VERSION.includes(noun ?? '') && !program.commands.some(command => command.name() === noun)) {
    const { adminCommands } = await import('./admin/index.ts')
    adminCommands(program)
  }
  return program
}

/** Makes the program with every command, for completion. */
async function wholeProgram() {
  const { FLAGS } = await import('@perdure/engine/serve')
  return { program: await programFor(undefined), flags: new Map([...UNPARSED.keys()].map(name => [name, FLAGS])) }
}

function versionOf(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
