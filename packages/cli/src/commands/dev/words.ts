// The words of `perdure dev`: the file that starts the runner, and the flags of the engine.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseFlags, UsageError } from '../../flags.ts'

export interface DevWords {
  /** Absolute path of the file that starts the runner, when there is one. */
  entry?: string
  flags: Record<string, string>
}

const RUNNABLE = /\.[cm]?[jt]sx?$/

/** Reads them. Throws a UsageError for a flag that is none, and for an entry that cannot be run. */
export function readDevWords(words: readonly string[], known: readonly string[]): DevWords {
  const at = words.findIndex((word, i) => !word.startsWith('-') && !isValue(words[i - 1]))
  const flags = parseFlags(
    words.filter((_, i) => i !== at),
    known,
  )
  const entry = words[at]
  return entry === undefined ? { flags } : { flags, entry: runnable(entry) }
}

/** Whether the word after this one is its value. */
function isValue(before: string | undefined): boolean {
  return before?.startsWith('--') === true && !before.includes('=')
}

function runnable(entry: string): string {
  const path = resolve(entry)
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new UsageError(`there is no file ${entry}`)
  if (!stats.isFile()) throw new UsageError(`${entry} is no file`)
  if (!RUNNABLE.test(path)) throw new UsageError(`${entry} is neither JavaScript nor TypeScript`)
  return path
}
