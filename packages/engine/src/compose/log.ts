// Makes the log of an engine that runs as a library: JSON lines, passed to a function of the caller.

import { type Logger, pino } from 'pino'

/** Creates a log of this level and above; each line is JSON and ends with a newline. */
export function createLog(options: { level: string; write(line: string): void }): Logger {
  const { level, write } = options
  return pino({ level, base: undefined }, { write })
}
