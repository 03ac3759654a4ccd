// The shared parts of the admin commands: they open the store, print results, and turn errors into one line and an exit
// code. They never print an API key that was typed by mistake.

import {
  type AdministrationOptions,
  ConfigError,
  type OpenAdministration,
  openAdministration,
} from '@perdure/engine'
import { type Command, CommanderError, Option } from 'commander'
import { examplesHelp } from '../command-line/options.ts'
import { painter, wantsColour } from '../output/colour.ts'
import { type Column, table } from '../output/table.ts'

export interface SharedOptions {
  store?: string
  json?: boolean
}

type Administration = OpenAdministration['administration']

/** The output of an admin command: as JSON, or for people. */
export interface Output {
  /** Prints one value. */
  show(value: unknown, lines: readonly string[]): void
  /** Prints a list; `none` goes to stderr instead of an empty table. */
  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): void
}

const EXIT_FAILED = 1
const EXIT_BAD_STORE = 2

/** A group of subcommands whose errors never show a key. */
export function group(
  program: Command,
  name: string,
  help: { description: string; examples: readonly string[] },
): Command {
  const { outputError } = program.configureOutput()
  return program
    .command(name)
    .description(help.description)
    .addHelpText('after', examplesHelp(help.examples))
    .configureOutput({ outputError: (text, write) => outputError?.(withoutKeys(text), write) })
}

/** Adds a command with the options that all admin commands take. */
export function subcommand(
  parent: Command,
  usage: string,
  help: { description: string; examples: readonly string[] },
): Command {
  const store = 'the store, as in perdure serve (default: sqlite:./.perdure/engine.db)'
  return parent
    .command(usage)
    .description(help.description)
    .addOption(new Option('--store <store>', store).env('ENGINE_STORE'))
    .option('--json', 'print JSON: one value, or a line for each item')
    .addHelpText('after', examplesHelp(help.examples))
}

/** Opens the store of `options` and runs `action` on it; prints an error in one line. */
export async function administer(
  command: Command,
  options: SharedOptions,
  action: (administration: Administration, output: Output) => Promise<void>,
  opening: AdministrationOptions = {},
): Promise<void> {
  await ended(command, async () => {
    const { administration, close } = await openAdministration(options.store || undefined, opening)
    await action(administration, outputOf(command, options)).finally(close)
  })
}

/** Runs `action`; prints an error in one line and throws a CommanderError with the exit code. */
export async function ended(command: Command, action: () => Promise<void>): Promise<void> {
  const { writeErr } = command.configureOutput()
  try {
    await action()
  } catch (error) {
    const { message } = error as Error
    writeErr?.(`perdure: ${withoutKeys(message)}\n`)
    const exitCode = error instanceof ConfigError ? EXIT_BAD_STORE : EXIT_FAILED
    throw new CommanderError(exitCode, 'perdure.admin', message)
  }
}

/** The output of the command, in the form that its options select. */
export function outputOf(command: Command, { json }: SharedOptions): Output {
  const { writeOut, writeErr } = command.configureOutput()
  const out = (lines: readonly string[]) => writeOut?.(lines.map(line => `${line}\n`).join(''))
  const style = {
    width: process.stdout.columns || undefined,
    paint: painter(wantsColour(process.stdout, process.env)),
  }
  return {
    show: (value, lines) => out(json ? [JSON.stringify(value)] : lines),
    list: (rows, columns, none) => {
      if (json) out(rows.map(row => JSON.stringify(row)))
      else if (rows.length === 0) writeErr?.(`${none}\n`)
      else out(table(rows, columns, style))
    },
  }
}

/** Epoch ms in the API's format of times. */
export function timestamp(at: number): string {
  return new Date(at).toISOString()
}

function withoutKeys(text: string): string {
  return text.replace(/pdk_[\w-]+/g, 'pdk_[REDACTED]')
}
