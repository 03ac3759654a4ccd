// The logger of handlers and steps. Created by the replay.

import type { LogLevel } from '@perdure/protocol'
import type { LogBuffer, LogScope } from './log-buffer.ts'

/** Writes log lines of the run. `fields` may be any object; errors in it keep their name, message and stack. */
export interface Logger {
  debug(message: string, fields?: object): void
  info(message: string, fields?: object): void
  warn(message: string, fields?: object): void
  error(message: string, fields?: object): void
}

/** Creates a logger. `scope` is called for each line, since the code that writes may be in a step or outside of one. */
export function createLogger(logs: LogBuffer, scope: () => LogScope): Logger {
  const write = (level: LogLevel) => (message: string, fields?: object) =>
    logs.append(scope(), { level, message, fields })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
