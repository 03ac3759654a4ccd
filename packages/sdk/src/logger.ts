// The logger's public face: lines go to the scope in force when they are written.

import type { LogLevel } from '@perdure/protocol'
import type { LogBuffer, LogScope } from './log-buffer.ts'

/** Writes log lines of the run. `fields` may be any object; errors in it keep name, message and stack. */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** A logger whose lines go to the scope in force when they are written. */
export function createLogger(logs: LogBuffer, scope: () => LogScope): Logger {
  const write = (level: LogLevel) => (message: string, fields?: object) =>
    logs.append(scope(), { level, message, fields })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
