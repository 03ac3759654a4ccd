// The `perdure` command: builds the program from its subcommands, runs one command line, returns the exit code.

import { readFileSync } from 'node:fs'
import { oldNodeProblem } from '@perdure/protocol'
import { Command } from 'commander'
import { EXIT, EXIT_CODES_HELP, exitOf } from './command-line/exit.ts'
import type { UnparsedCommand } from './command-line/flags.ts'
import { packageFile } from './command-line/package-file.ts'
import { auditCommand } from './commands/audit.ts'
import { buffersCommands } from './commands/buffers.ts'
import { bulkCommands } from './commands/bulk.ts'
import { completionCommand } from './commands/completion.ts'
import { conformCommand } from './commands/conform/index.ts'
import { consoleCommand } from './commands/console.ts'
import { dev } from './commands/dev/index.ts'
import { doctor } from './commands/doctor.ts'
import { enginesCommand } from './commands/engines.ts'
import { eventsCommands } from './commands/events.ts'
import { initCommand } from './commands/init/index.ts'
import { limitsCommand } from './commands/limits.ts'
import { mcpCommand } from './commands/mcp/index.ts'
import { registryCommands } from './commands/registry.ts'
import { runsCommands } from './commands/runs/index.ts'
import { schedulesCommands } from './commands/schedules.ts'
import { serve } from './commands/serve.ts'
import { statsCommands } from './commands/stats.ts'
import { streamCommand } from './commands/stream.ts'
import { webhooksCommands } from './commands/webhooks/index.ts'
import { forTerminal } from './output/text.ts'

const EXAMPLES = `
Examples:
  perdure dev ./src/worker.ts
  perdure serve
  perdure events send user.signed-up --data '{"name": "Ada"}' --wait
  perdure runs list --status failed
  perdure COMMAND --help`

const UNPARSED = new Map<string, UnparsedCommand>(Object.entries({ serve, dev, doctor }))

/** Runs one command line (without node and script); returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const problem = oldNodeProblem()
  if (problem !== undefined) {
    process.stderr.write(`perdure: ${problem}\n`)
    return EXIT.usage
  }
  try {
    const given = normal(args)
    const unparsed = UNPARSED.get(given[0] ?? '')
    if (unparsed) return await runUnparsed(unparsed, given.slice(1))
    const program = await programFor(given[0])
    await program.parseAsync(given, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    const { code, message } = exitOf(error)
    if (message !== undefined) process.stderr.write(`perdure: ${forTerminal(withoutKeys(message))}\n`)
    return code
  }
}

async function runUnparsed({ help, run }: UnparsedCommand, args: readonly string[]): Promise<number> {
  const engine = await import('@perdure/engine/serve')
  if (!args.includes('--help') && !args.includes('-h')) return run(args, engine)
  process.stdout.write(`${help(engine.FLAGS)}\n`)
  return EXIT.ok
}

/** The text without API keys, which may be typed in place of ids. */
const withoutKeys = (text: string) => text.replace(/pdk_[\w-]+/g, 'pdk_[REDACTED]')

/** Without arguments, `--help`; `help x` becomes `x --help`. */
function normal(args: readonly string[]): string[] {
  if (args.length === 0) return ['--help']
  return args[0] === 'help' ? [...args.slice(1), '--help'] : [...args]
}

/** Options of the program, which need none of its commands. */
const VERSION = ['-V', '--version']

/**
 * The program. Commands that open the store import the engine, which is slow to load, so they are added only when
 * `noun` is none of the other commands.
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

/** The program with every command, for completion. */
async function wholeProgram() {
  const { FLAGS } = await import('@perdure/engine/serve')
  return { program: await programFor(undefined), flags: new Map([...UNPARSED.keys()].map(name => [name, FLAGS])) }
}

function versionOf(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
