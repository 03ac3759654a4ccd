// The logger of handlers and steps. Created by the replay.

import type { LogLevel } from '@perdure/protocol'
import type { LogBuffer, LogScope } from './log-buffer.ts'

/** Writes a log line of the run. `fields` may be any object; errors in it keep their name, message and stack. */
export interface LogMethod {
  (message: string, fields?: object): void
  /** The form of loggers such as pino: the fields or an error first. */
  (fields: object, message?: string): void
}

/** Writes log lines of the run. */
export interface Logger {
  debug: LogMethod
  info: LogMethod
  warn: LogMethod
  error: LogMethod
}

/** Creates a logger. `scope` is called for each line, because the calling code may be inside or outside a step. */
export function createLogger(logs: LogBuffer, scope: () => LogScope): Logger {
  const write =
    (level: LogLevel): LogMethod =>
    (first: string | object, second?: string | object) =>
      logs.append(scope(), { level, ...lineOf(first, second) })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/**
 * Returns the message and the fields of a line, given in either order. Without a message, uses that of an error, or the `message`
 * or `msg` of the fields.
 */
export function lineOf(first: unknown, second: unknown): { message: string; fields?: object | undefined } {
  if (typeof first !== 'object' || first === null) return { message: first as string, fields: second as object }
  const { message, msg } = first as { message?: unknown; msg?: unknown }
  const text = [second, message, msg].find(one => typeof one === 'string') ?? ''
  return { message: text as string, fields: first }
}
