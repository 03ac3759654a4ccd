// Options that several commands share, and parsers of option values. A parser throws for an invalid value, which
// commander reports as bad usage.

import { readFileSync } from 'node:fs'
import { type Attributes, parseDurationMs } from '@perdure/protocol'
import { InvalidArgumentError, Option } from 'commander'
import { parseDigits } from '../output/digits.ts'
import { parseSince } from '../output/time.ts'
import { UsageError } from './flags.ts'
import type { Terminal } from './terminal.ts'

/** More than the engine accepts. */
const INPUT_BYTES_MAX = 8 * 1024 * 1024

/** The examples in the help of a command. */
export const examplesHelp = (examples: readonly string[]) =>
  `\nExamples:\n${examples.map(example => `  ${example}`).join('\n')}`

export const attributesOption = (what: string) =>
  new Option('--attribute <key:value>', `${what}; may be given several times`).argParser(attributeTexts)

/** Parses `key:value`, and appends it to the earlier values of the same option. */
export function attributeTexts(text: string, before: readonly string[] = []): string[] {
  if (!/^[\w.-]+:/.test(text)) throw new InvalidArgumentError('It must be key:value.')
  return [...before, text]
}

/** The attributes of `--attribute`; a value that is a JSON number or boolean becomes one. */
export function attributesOf(given: readonly string[] | undefined): Attributes | undefined {
  if (!given) return undefined
  const entries = given.map(text => {
    const colon = text.indexOf(':')
    const value = text.slice(colon + 1)
    const scalar = /^(true|false|-?\d+(\.\d+)?)$/.test(value) ? (JSON.parse(value) as number | boolean) : value
    return [text.slice(0, colon), String(scalar) === value ? scalar : value] as const
  })
  return Object.fromEntries(entries)
}

/** Options of a command that can wait for runs. */
export interface WaitOptions {
  /** In milliseconds. */
  timeout?: number
}

/** Longest timeout: a longer one does not fit into a timer. */
const TIMEOUT_MS_MAX = 24 * 86_400_000

export const timeoutOption = (what = 'with --wait, ') =>
  new Option('--timeout <duration>', `${what}stop after this time, such as 30s or 5m, with exit code 4`).argParser(
    text => {
      const ms = parseDurationMs(text)
      if (ms === undefined || ms <= 0 || ms > TIMEOUT_MS_MAX)
        throw new InvalidArgumentError('It must be a duration such as 30s, 5m or 1h, up to 24d.')
      return ms
    },
  )

/** A parser of whole numbers within bounds, which `what` names in the error. */
export function wholeNumber(what: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const n = Number(text)
    if (!/^\d+$/.test(text) || n < minimum || n > maximum) throw new InvalidArgumentError(`It must be ${what}.`)
    return n
  }
}

/** Parses a time: RFC 3339, or an age such as 2h. */
export function time(text: string): string {
  const parsed = parseSince(text, Date.now())
  if (parsed === undefined) throw new InvalidArgumentError('It must be like 30m, 2h, 7d or 2026-01-31T12:00:00Z.')
  return parsed
}

/** Parses values of `allowed`, separated by commas; if the option is repeated, its values come after the earlier ones. */
export function listOf<Value extends string>(allowed: readonly Value[]): (text: string, before?: Value[]) => Value[] {
  return (text, before) => {
    const values = namesOf(text, before)
    const unknown = values.find(value => !(allowed as readonly string[]).includes(value))
    if (unknown !== undefined) throw new InvalidArgumentError(`Allowed are ${allowed.join(', ')}.`)
    return values as Value[]
  }
}

/** Parses texts separated by commas, and appends them to the earlier ones of the same option. */
export const namesOf = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').map(name => name.trim()),
]

/** The secret of an option, trimmed: given literally, as `@file`, or `-` for standard input; undefined if none is given. */
export async function secretOption(given: string | undefined, terminal: Terminal): Promise<string | undefined> {
  if (given === undefined) return undefined
  const secret = (await textOption('--secret', given, terminal)).trim()
  if (secret === '') throw new UsageError('--secret is empty')
  return secret
}

/** The JSON of an option: given literally, as `@file`, or `-` for standard input. */
export async function jsonOption(name: string, given: string, terminal: Terminal): Promise<unknown> {
  const text = await textOption(name, given, terminal)
  try {
    return parseDigits(text)
  } catch (error) {
    throw new UsageError(`${name} is not valid JSON: ${(error as Error).message}`)
  }
}

/** The text of an argument: given literally, as `@file`, or `-` for standard input. */
export async function textOption(name: string, given: string, terminal: Terminal): Promise<string> {
  try {
    if (given === '-') return await terminal.input(INPUT_BYTES_MAX)
    return given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${(error as Error).message}`)
  }
}
