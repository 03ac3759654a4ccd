// The `perdure` command: builds the program from its subcommands, runs one command line, returns the exit code.

import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { EXIT_CODES_HELP, exitOf } from './command-line/exit.ts'
import { auditCommand } from './commands/audit.ts'
import { listDev, runDev } from './commands/dev/index.ts'
import { listDoctor, runDoctor } from './commands/doctor.ts'
import { eventsCommands } from './commands/events.ts'
import { registryCommands } from './commands/registry.ts'
import { runsCommands } from './commands/runs/index.ts'
import { listServe, runServe } from './commands/serve.ts'
import { webhooksCommands } from './commands/webhooks/index.ts'

const EXAMPLES = `
Examples:
  perdure dev ./src/worker.ts
  perdure serve
  perdure events send user.signed-up --data '{"name": "Ada"}' --wait
  perdure runs list --status failed
  perdure COMMAND --help`

/** Runs one command line (without node and script); returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const given = normal(args)
    if (given[0] === 'serve') return await runServe(given.slice(1))
    if (given[0] === 'dev') return await runDev(given.slice(1))
    if (given[0] === 'doctor') return await runDoctor(given.slice(1))
    const program = await programFor(given[0])
    await program.parseAsync(given, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    const { code, message } = exitOf(error)
    if (message !== undefined) process.stderr.write(`perdure: ${message}\n`)
    return code
  }
}

/** Without arguments, `--help`; `help x` becomes `x --help`. */
function normal(args: readonly string[]): string[] {
  if (args.length === 0) return ['--help']
  return args[0] === 'help' ? [...args.slice(1), '--help'] : [...args]
}

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
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'perdure: ')) })
    .addHelpText('after', `${EXAMPLES}\n${EXIT_CODES_HELP}`)
  listServe(program)
  listDev(program)
  listDoctor(program)
  runsCommands(program)
  eventsCommands(program)
  registryCommands(program)
  auditCommand(program)
  webhooksCommands(program)
  if (!program.commands.some(command => command.name() === noun)) {
    const { adminCommands } = await import('./admin/index.ts')
    adminCommands(program)
  }
  return program
}

function versionOf(): string {
  const file = new URL('../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
