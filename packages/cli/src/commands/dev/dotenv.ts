// The variables of `.env` in the folder where `perdure dev` runs. Called by develop.ts and before each start of the runner.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { UsageError } from '../../command-line/flags.ts'

/** The file's name in messages. */
export const DOTENV = '.env'

/** Reads the variables; there are none without the file. Throws a UsageError if the file cannot be read. */
export function readDotenv(directory = process.cwd()): Record<string, string> {
  try {
    return parseEnv(readFileSync(join(directory, DOTENV), 'utf8')) as Record<string, string>
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EISDIR') return {}
    throw new UsageError(`${DOTENV} cannot be read: ${message}`)
  }
}
