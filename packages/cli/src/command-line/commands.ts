// The shared parts of all commands that call an engine or act locally: options, output of results, exit codes.

import { type Client, createClient, DEFAULT_URL } from '@perdure/client'
import { type Command, Option } from 'commander'
import type { Paint } from '../output/colour.ts'
import { KEEPING_DIGITS } from '../output/digits.ts'
import { type Column, table } from '../output/table.ts'
import { jsonLine } from '../output/text.ts'
import { runningDev } from './dev-record.ts'
import { EXIT } from './exit.ts'
import { UsageError } from './flags.ts'
import { examplesHelp } from './options.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** The options that select the engine. */
export interface EngineOptions {
  /** The engine, the first of a list: links to pages point there. */
  url: string
  /** All engines of the list, any of which is called. */
  engines: string
  apiKey?: string
}

/** One execution of a command that does not call an engine. */
export interface LocalContext<Options> {
  options: Options
  terminal: Terminal
  /** Whether to print JSON, for scripts. */
  json: boolean
  signal: AbortSignal
}

/** One execution of a command that calls an engine. It also serves as call options of the client, for its `signal`. */
export interface EngineContext<Options> extends LocalContext<Options> {
  client: Client
}

/** The work of a command; returns the exit code, or undefined for 0. */
type Action<Options> = (context: EngineContext<Options>, ...args: string[]) => Promise<number | undefined>
type LocalAction<Options> = (context: LocalContext<Options>, ...args: string[]) => Promise<number | undefined>

const WHERE = `the address of the engine (default: the engine of perdure dev in this folder, or ${DEFAULT_URL})`

/** Makes `command` call an engine: adds the options that select it, and the examples of the help. */
export function engineCommand<Options = object>(
  command: Command,
  examples: readonly string[],
  action: Action<Options>,
): Command {
  command
    .addOption(new Option('--url <url>', WHERE).env('ENGINE_URL'))
    .addOption(new Option('--api-key <key>', 'the API key').env('ENGINE_API_KEY'))
  return localCommand<Options & EngineOptions>(command, examples, (context, ...args) => {
    const url = context.options.url || runningDev()?.url || DEFAULT_URL
    const options = { ...context.options, url: url.trim().split(/[\s,]+/, 1)[0] as string, engines: url }
    return action({ ...context, options, client: connect(options) }, ...args)
  })
}

/** Makes `command` act without an engine; adds the examples of the help. */
export function localCommand<Options>(
  command: Command,
  examples: readonly string[],
  action: LocalAction<Options>,
): Command {
  return command
    .option('--json', 'print JSON: one value, or a line for each item')
    .addHelpText('after', examplesHelp(examples))
    .action(async (...given: unknown[]) => {
      // Commander passes the arguments, then the options, then the command.
      const args = given.slice(0, -2) as string[]
      // `perdure workflows` takes `--json` and other options also for its subcommands: it has options with the same names.
      const options = (given.at(-1) as Command).optsWithGlobals() as Options & { json?: boolean }
      const terminal = openTerminal()
      const context = { options, terminal, json: options.json === true, signal: terminal.signal }
      process.exitCode = (await action(context, ...args)) ?? EXIT.ok
    })
}

function connect({ engines: url, apiKey }: EngineOptions): Client {
  try {
    return createClient({ url, apiKey: apiKey || undefined, json: KEEPING_DIGITS })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Adds a group of commands. */
export function group(parent: Command, name: string, help: { description: string; examples: string[] }): Command {
  return parent.command(name).description(help.description).addHelpText('after', examplesHelp(help.examples))
}

/** Writes one value: as JSON, or as the given lines. */
export async function show(
  { terminal, json }: LocalContext<unknown>,
  value: unknown,
  lines: () => readonly string[],
): Promise<undefined> {
  for (const line of json ? [jsonLine(value)] : lines()) await terminal.out(line)
}

/** Writes each item as it arrives: as JSON, or as one line for people. */
export async function stream<Item>(
  { terminal, json }: LocalContext<unknown>,
  items: AsyncIterable<Item>,
  lineOf: (item: Item, paint: Paint) => string,
): Promise<undefined> {
  for await (const item of items) await terminal.out(json ? jsonLine(item) : lineOf(item, terminal.paint))
}

/** Writes a list of at most `limit` rows: with `--json` a line per row as it arrives, else a table at the end. */
export async function list<Row>(
  context: LocalContext<unknown>,
  rows: AsyncIterable<Row> | Iterable<Row>,
  columns: readonly Column<Row>[],
  { limit = Number.POSITIVE_INFINITY, none = 'nothing found' } = {},
): Promise<undefined> {
  const { terminal, json } = context
  const kept: Row[] = []
  let n = 0
  for await (const row of rows) {
    if (json) await terminal.out(jsonLine(row))
    else kept.push(row)
    n += 1
    if (n >= limit) break
  }
  if (json) return
  if (kept.length === 0) terminal.say(none)
  else for (const line of table(kept, columns, terminal)) await terminal.out(line)
}
