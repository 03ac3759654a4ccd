// What the admin commands share: opening the store, printing, turning trouble into one line and an exit code, and
// never repeating a key that was typed by mistake.

import {
  type AdministrationOptions,
  ConfigError,
  type OpenAdministration,
  openAdministration,
} from '@perdure/engine'
import { type Command, CommanderError, Option } from 'commander'
import { type Column, table } from '../output/table.ts'

export interface SharedOptions {
  store?: string
  json?: boolean
}

type Administration = OpenAdministration['administration']

const EXIT_FAILED = 1
const EXIT_BAD_STORE = 2

/** A group of subcommands whose errors never show a key. */
export function group(program: Command, name: string, description: string): Command {
  const { outputError } = program.configureOutput()
  return program
    .command(name)
    .description(description)
    .configureOutput({ outputError: (text, write) => outputError?.(withoutKeys(text), write) })
}

/** A command with the options that all of them take. */
export function subcommand(parent: Command, usage: string, description: string): Command {
  const store = 'the store, as in perdure serve (default: sqlite:./.perdure/engine.db)'
  return parent
    .command(usage)
    .description(description)
    .addOption(new Option('--store <store>', store).env('ENGINE_STORE'))
    .option('--json', 'print JSON: one value, or a line for each item')
}

/** Does something with the store of `options` and prints the lines it answers; ends with one line when that fails. */
export async function administer(
  command: Command,
  options: SharedOptions,
  action: (administration: Administration) => Promise<readonly string[]>,
  opening: AdministrationOptions = {},
): Promise<void> {
  const { writeOut, writeErr } = command.configureOutput()
  try {
    const { administration, close } = await openAdministration(options.store || undefined, opening)
    const lines = await action(administration).finally(close)
    writeOut?.(lines.map(line => `${line}\n`).join(''))
  } catch (error) {
    const { message } = error as Error
    writeErr?.(`perdure: ${withoutKeys(message)}\n`)
    const exitCode = error instanceof ConfigError ? EXIT_BAD_STORE : EXIT_FAILED
    throw new CommanderError(exitCode, 'perdure.admin', message)
  }
}

/** Rows as aligned columns, or what there is to say when there are none. */
export function columns<Row>(
  rows: readonly Row[],
  all: readonly Column<Row>[],
  none: string,
): readonly string[] {
  if (rows.length === 0) return [none]
  return table(rows, all, { width: undefined, paint: (_colour, text) => text })
}

/** Epoch ms as the API writes times. */
export function timestamp(at: number): string {
  return new Date(at).toISOString()
}

function withoutKeys(text: string): string {
  return text.replace(/pdk_[\w-]+/g, 'pdk_[REDACTED]')
}
