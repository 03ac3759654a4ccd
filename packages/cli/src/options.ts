// Readers of option values. Each refuses what it cannot read, which commander reports as bad usage.

import { readFileSync } from 'node:fs'
import type { RunStatus } from '@perdure/protocol'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from './flags.ts'
import { parseSince } from './output/time.ts'
import type { Terminal } from './terminal.ts'

const STATUSES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly RunStatus[]

/** More than the engine takes. */
const INPUT_BYTES_MAX = 8 * 1024 * 1024

export const appOption = () => new Option('--app <name>', 'only of this app')
export const statusOption = () =>
  new Option('--status <status>', 'only runs of this status').choices(STATUSES)
export const runTypeOption = () =>
  new Option('--run-type <type>', 'only runs that an event, or a cron, started').choices(['event', 'cron'])
export const sinceOption = () =>
  new Option('--since <time>', 'only runs created since: 2h, 7d, or an RFC 3339 time').argParser(since)
export const limitOption = (rows: string, preset: number) =>
  new Option('--limit <n>', `at most so many ${rows}`).argParser(positiveInteger).default(preset)

/** A whole number from 1. */
export function positiveInteger(text: string): number {
  const n = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(n) || n < 1) {
    throw new InvalidArgumentError('It must be a whole number from 1.')
  }
  return n
}

/** A whole number from 0. */
export function wholeNumber(text: string): number {
  return text === '0' ? 0 : positiveInteger(text)
}

function since(text: string): string {
  const time = parseSince(text, Date.now())
  if (time === undefined)
    throw new InvalidArgumentError('It must be like 30m, 2h, 7d or 2026-01-31T12:00:00Z.')
  return time
}

/** The JSON that an option gives: as it stands, in `@file`, or `-` for standard input. */
export async function jsonOption(name: string, given: string, terminal: Terminal): Promise<unknown> {
  const text = await textOf(name, given, terminal)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${name} is no JSON: ${(error as Error).message}`)
  }
}

async function textOf(name: string, given: string, terminal: Terminal): Promise<string> {
  try {
    if (given === '-') return await terminal.input(INPUT_BYTES_MAX)
    return given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${(error as Error).message}`)
  }
}
