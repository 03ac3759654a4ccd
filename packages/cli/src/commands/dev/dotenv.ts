// The variables of `.env` in the folder in which `perdure dev` runs. Called by develop.ts and before each start of the runner.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { UsageError } from '../../command-line/flags.ts'

/** The file, as messages name it. */
export const DOTENV = '.env'

/** Reads the variables; none without the file. Throws a UsageError for a file that cannot be read. */
export function readDotenv(directory = process.cwd()): Record<string, string> {
  try {
    return parseEnv(readFileSync(join(directory, DOTENV), 'utf8')) as Record<string, string>
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EISDIR') return {}
    throw new UsageError(`${DOTENV} cannot be read: ${message}`)
  }
}
