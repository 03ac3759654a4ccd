// Parses the arguments of `perdure dev`: the file that starts the runner, and the flags of the engine.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseFlags, UsageError } from '../../command-line/flags.ts'

export interface DevArguments {
  /** Absolute path of the file that starts the runner, if there is one. */
  entry?: string
  flags: Record<string, string>
  /** Without lines about runs. */
  quiet: boolean
}

const RUNNABLE = /\.[cm]?[jt]sx?$/

/** Parses the arguments. Throws a UsageError for an unknown flag, and for an entry that cannot be run. */
export function parseDevArguments(given: readonly string[], known: readonly string[]): DevArguments {
  const quiet = given.includes('--quiet')
  const args = given.filter(arg => arg !== '--quiet')
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && !isValue(args[i - 1]))
  const flags = parseFlags(
    args.filter((_, i) => i !== at),
    { known, others: ['quiet'] },
  )
  const entry = args[at]
  return { flags, quiet, ...(entry !== undefined && { entry: runnable(entry) }) }
}

/** Whether the argument after `before` is the value of that flag. */
function isValue(before: string | undefined): boolean {
  return before?.startsWith('--') === true && !before.includes('=')
}

function runnable(entry: string): string {
  const path = resolve(entry)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new UsageError(`there is no file ${entry}`)
  if (!stats.isFile()) throw new UsageError(`${entry} is not a file`)
  if (!RUNNABLE.test(path)) throw new UsageError(`${entry} is neither JavaScript nor TypeScript`)
  return path
}
