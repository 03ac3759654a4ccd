// Makes the command for an operation of the HTTP API. Its options are the query parameters, its arguments the placeholders of the
// path; the command adds only the texts for people.

import type { Client } from '@perdure/client'
import { type OperationId, ROUTES } from '@perdure/client/internal'
import type { Command, Option } from 'commander'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { type EngineContext, type EngineOptions, engineCommand, list, show } from './commands.ts'
import { EXIT } from './exit.ts'
import { UsageError } from './flags.ts'
import { wholeId } from './ids.ts'
import { type OptionSettings, type ParameterOf, parametersOf, queryOf } from './parameters.ts'

type Paged = keyof Client['pages']
type Input<Id extends OperationId> = NonNullable<Parameters<Client[Id]>[0]>
type Body<Id extends OperationId> = Input<Id> extends { body?: infer Given } ? NonNullable<Given> : never

/** The answer of an operation: the items of all pages, the frames of a stream, or the value. */
type Reply<Id extends OperationId> = Id extends Paged
  ? ReturnType<Client['pages'][Id]>
  : Awaited<ReturnType<Client[Id]>>
type Row<Id extends OperationId> =
  Reply<Id> extends AsyncIterable<infer Item> ? Item : Reply<Id> extends readonly (infer Item)[] ? Item : never

type Placeholders<Route> = Route extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never
/** The arguments of the command by the placeholders of the path. */
type Path<Id extends OperationId> = { readonly [Name in Placeholders<(typeof ROUTES)[Id]>]: string }

/** The settings of the command for an operation. */
interface OperationCommand<Id extends OperationId, Options> extends OptionSettings<ParameterOf<Id>> {
  operation: Id
  description: string
  examples: readonly string[]
  /** Options that are not query parameters. */
  more?: readonly Option[]
  /** Arguments after those of the path, which `body` gets. */
  moreArguments?: readonly string[]
  body?(context: EngineContext<Options & EngineOptions>, ...given: string[]): Body<Id> | Promise<Body<Id>>
  /** Throws a UsageError for a body that the engine would refuse, using data read from the engine. Called before the call. */
  check?(context: EngineContext<Options & EngineOptions>, path: Path<Id>, body: Body<Id>): Promise<void>
  /** The question to the user before the call, which `--yes` answers. */
  confirm?(path: Path<Id>): string
}

type Print<Id extends OperationId, Options> = (
  context: EngineContext<Options & EngineOptions>,
  reply: Reply<Id>,
  path: Path<Id>,
) => Promise<number | undefined>

/** Makes a command that calls an operation and prints the answer with `print`. */
export function operationCommand<Id extends OperationId, Options = object>(
  parent: Command,
  name: string,
  settings: OperationCommand<Id, Options>,
  print: Print<Id, Options>,
): Command {
  const { operation, description, examples, more = [], moreArguments = [], body, check, confirm } = settings
  const names = [...ROUTES[operation].matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder as string)
  const parameters = parametersOf<Id>(operation, settings)
  const usage = [name, ...[...names, ...moreArguments].map(argument => `<${argument}>`)].join(' ')
  const command = parent.command(usage).description(description)
  for (const option of [...parameters.map(({ option }) => option), ...more]) command.addOption(option)
  if (confirm) command.option('-y, --yes', 'do not ask for confirmation')
  return engineCommand<Options & EngineOptions>(command, examples, async (context, ...given) => {
    // The body comes first: if it is invalid, no request is made.
    const input = body && { body: await body(context, ...given.slice(names.length)) }
    const path = await pathOf<Id>(context, operation, given, names)
    if (input) await check?.(context, path, input.body)
    if (confirm && !(await isWanted(context as EngineContext<{ yes?: true }>, confirm(path)))) return EXIT.refused
    const query = await queryOf(context, parameters)
    return print(context, await call(context, operation, { ...path, ...query, ...input }), path)
  })
}

/** A command that prints the rows of a list as a table. */
export function listCommand<Id extends OperationId>(
  parent: Command,
  name: string,
  settings: OperationCommand<Id, { limit?: number }> & {
    columns: readonly Column<Row<Id>>[]
    /** The message for a list without rows. */
    none?: string
  },
): Command {
  const { columns, none } = settings
  return operationCommand(parent, name, settings, (context, rows) =>
    list(context, rows as AsyncIterable<Row<Id>>, columns, { limit: context.options.limit, none }),
  )
}

/** A command that prints the answer in lines. */
export function showCommand<Id extends OperationId, Options = object>(
  parent: Command,
  name: string,
  settings: OperationCommand<Id, Options> & {
    lines(reply: Reply<Id>, context: EngineContext<Options & EngineOptions>): readonly string[]
  },
): Command {
  return operationCommand(parent, name, settings, (context, reply) =>
    show(context, reply, () => settings.lines(reply, context)),
  )
}

/** A command whose operation returns nothing: prints the arguments with their outcome. */
export function doneCommand<Id extends OperationId>(
  parent: Command,
  name: string,
  settings: OperationCommand<Id, object> & {
    /** The member of the JSON that is true. */
    done: string
    line(path: Path<Id>): string
  },
): Command {
  const { done, line } = settings
  return operationCommand(parent, name, settings, (context, _, path) =>
    show(context, { ...path, [done]: true }, () => [plain(line(path))]),
  )
}

/** Calls an operation whose input was made from its own parameters. */
async function call<Id extends OperationId>(
  { client, signal }: EngineContext<unknown>,
  operation: Id,
  input: object,
): Promise<Reply<Id>> {
  const pages: Partial<Record<string, unknown>> = client.pages
  const method = (pages[operation] ?? client[operation]) as (input: object, options: { signal: AbortSignal }) => unknown
  return (await method(input, { signal })) as Reply<Id>
}

/** Lists whose items can also be named by the beginnings of their ids. */
const COMPLETED = /^\S+ \/(runs|events|webhook-\w+)\/\{id\}/

async function pathOf<Id extends OperationId>(
  context: EngineContext<unknown>,
  operation: Id,
  given: readonly string[],
  names: readonly string[],
): Promise<Path<Id>> {
  const isCompleted = COMPLETED.test(ROUTES[operation])
  const entries = names.map(async (name, i) => {
    // A URL of the engine stands for its last part.
    const text = (given[i] ?? '').replace(/^https?:.*\//, '')
    return [name, isCompleted && name === 'id' ? await wholeId(context, text) : text] as const
  })
  return Object.fromEntries(await Promise.all(entries)) as Path<Id>
}

async function isWanted({ options, terminal }: EngineContext<{ yes?: true }>, question: string): Promise<boolean> {
  if (options.yes) return true
  if (!terminal.interactive)
    throw new UsageError('the command cannot ask for confirmation without a terminal: add --yes')
  return terminal.confirm(question)
}
