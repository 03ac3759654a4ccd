// The command options for the query parameters of an operation, and how their values get into its query.

import { type Queries, type QueryParam, type QueryParams, queries } from '@perdure/protocol/queries'
import { Option } from 'commander'
import type { EngineContext } from './commands.ts'
import { wholeId } from './ids.ts'
import { attributeTexts, listOf, namesOf, time, wholeNumber } from './options.ts'

/** A query parameter, and the option in which the user gives it. */
export interface Parameter {
  name: string
  param: QueryParam
  option: Option
}

/** The names of an operation's query parameters. */
export type ParameterOf<Id> = Id extends keyof Queries ? Exclude<keyof Queries[Id], 'cursor'> & string : never

/** The settings of a command for its options. */
export interface OptionSettings<Name extends string> {
  /** The parameters that become options, in the order of the help. Default: all of the operation. */
  only?: readonly Name[]
  /** Help texts that say more to a user than the API's. */
  texts?: { readonly [Key in Name]?: string }
  /** The rows that `--limit` counts. */
  rows?: string
  /** The value of `--limit` if it is not given. Default: the API's. */
  limit?: number
}

/** Flags that do not follow from the parameter's name. */
const FLAGS: Readonly<Record<string, string>> = {
  app: '--app <name>',
  workflow: '--workflow <name>',
  name: '--name <name>',
  q: '-q, --query <text>',
  parentRunId: '--parent <id>',
  sourceRunId: '--run <id>',
  replayOf: '--replay-of <id>',
  runner: '--runner <id>',
  eventKind: '--kind <kind>',
  waitingFor: '--waiting-for <kind>',
  error: '--error <fingerprint>',
  key: '--key <key>',
  actor: '--actor <label>',
  sort: '--sort <by>',
  dir: '--dir <direction>',
  step: '--step <length>',
  every: '--every <ms>',
}

/** The options for the parameters of an operation. */
export function parametersOf<Id extends string>(
  operation: Id,
  settings: OptionSettings<ParameterOf<Id>> = {},
): Parameter[] {
  const params: QueryParams = (queries as Record<string, QueryParams>)[operation] ?? {}
  const names: readonly string[] = settings.only ?? Object.keys(params).filter(name => name !== 'cursor')
  return names.map(name => {
    const param = params[name] as QueryParam
    const text = (settings.texts as Record<string, string> | undefined)?.[name] ?? textOf(param)
    return { name, param, option: name === 'limit' ? limitOf(param, settings) : optionOf(name, param, text) }
  })
}

/** Makes the query from the options of the command line. Completes beginnings of ids. */
export async function queryOf(
  context: EngineContext<object>,
  parameters: readonly Parameter[],
): Promise<Record<string, unknown>> {
  const values = parameters.map(async ({ name, param, option }) => [
    name,
    await sentOf(context, { name, param, option }),
  ])
  return Object.fromEntries(await Promise.all(values))
}

/** The value of an option on the command line; undefined if absent. */
export const givenOf = ({ options }: EngineContext<object>, { option }: Parameter): unknown =>
  (options as Record<string, unknown>)[option.attributeName()]

async function sentOf(context: EngineContext<object>, parameter: Parameter): Promise<unknown> {
  const { name, param } = parameter
  const given = givenOf(context, parameter)
  if (given === undefined || !isId(name, param)) {
    return param.kind === 'integer' && typeof given === 'number' ? Math.min(given, param.maximum) : given
  }
  return Array.isArray(given)
    ? Promise.all(given.map((id: string) => wholeId(context, id)))
    : wholeId(context, given as string)
}

const isId = (name: string, param: QueryParam) => name.endsWith('Id') || 'ofRun' in param

/** The number of rows of the whole list: more than a page can have. */
function limitOf(param: QueryParam, { rows = 'rows', limit }: OptionSettings<string>): Option {
  const option = new Option('--limit <n>', `maximum number of ${rows}`).argParser(
    wholeNumber('a whole number from 1', 1),
  )
  const preset = limit ?? (param.kind === 'integer' ? param.default : undefined)
  return preset === undefined ? option : option.default(preset)
}

function optionOf(name: string, param: QueryParam, text: string): Option {
  const flag = (value: string) => FLAGS[name] ?? `--${kebab(name.replace(/Id$/, ''))} <${value}>`
  switch (param.kind) {
    case 'flag':
      return new Option(`--${kebab(name)}`, text)
    case 'enum': {
      const option = new Option(flag(kebab(name).split('-').at(-1) as string), text).choices(param.values)
      return param.default === undefined ? option : option.default(param.default)
    }
    case 'enums':
      return new Option(flag('list'), `${text}: ${param.values.join(', ')}`).argParser(listOf(param.values))
    case 'names':
      return new Option(flag('list'), text).argParser(namesOf)
    case 'attributes':
      return new Option(flag('key:value'), `${text}; may be given several times`).argParser(attributeTexts)
    case 'integer': {
      const { minimum, maximum } = param
      const bounds = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`
      const shown = maximum === Number.MAX_SAFE_INTEGER ? text : `${text} (${minimum} to ${maximum})`
      return new Option(flag('n'), shown).argParser(wholeNumber(`a whole number ${bounds}`, minimum, maximum))
    }
    case 'timestamp':
      return new Option(flag('time'), `${text}: 2h, 7d, or an RFC 3339 time`).argParser(time)
    case 'duration':
      return new Option(flag('duration'), text)
    default:
      return new Option(flag(isId(name, param) ? 'id' : 'text'), text)
  }
}

/** The first clause of the API's description, in the style of the help: without a capital, code marks and links. */
function textOf({ description }: QueryParam): string {
  const [clause = ''] = description.split(/; |\. | \(\[|, as `|: the `/, 1)
  const text = clause.charAt(0).toLowerCase() + clause.slice(1)
  return text.replaceAll('`', '').replace(/^counts /, 'count ')
}

const kebab = (name: string) => name.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`)
