// Makes the engine's log: JSON lines, handed to whoever keeps them. For those who run the engine as a library.

import { type Logger, pino } from 'pino'

/** A log of that level and worse; each line is JSON and ends in a newline. */
export function createLog(options: { level: string; write(line: string): void }): Logger {
  const { level, write } = options
  return pino({ level, base: undefined }, { write })
}
