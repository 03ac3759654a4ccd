// A logger for code that may run inside a run or outside of one.

import { inspect } from 'node:util'
import type { LogLevel } from '@perdure/protocol'
import { passScope } from '../pass/pass-scope.ts'
import { type Logger, type LogMethod, lineOf } from '../run/logger.ts'
import type { LevelLogger, RunnerLog } from '../run/runner-log.ts'

/** A logger takes the arguments of a line as `log` got them; most have `debug`. */
type Outside = LevelLogger & { debug?(message: string): unknown }

let outside: Outside = console

/** Sets the logger for lines written outside of runs. If a process has several runners, the newest one's logger takes them. */
export function logOutsideTo(log: RunnerLog | LevelLogger): void {
  outside = typeof log === 'function' ? levelsOf(log) : log
}

function levelsOf(log: RunnerLog): LevelLogger {
  const at =
    (level: 'info' | 'warn' | 'error') =>
    (...line: unknown[]) => {
      const { message, fields } = lineOf(line[0], line[1])
      log(
        level,
        fields === undefined ? message : `${message} ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY })}`,
      )
    }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function method(level: LogLevel): LogMethod {
  return (...line: [string | object, (string | object)?]) => {
    const logger = passScope.getStore()?.run.args?.ctx.logger
    if (logger) return logger[level](...(line as [string, object?]))
    const taker = level === 'debug' && outside.debug === undefined ? 'info' : level
    outside[taker as 'info'](...(line as [string]))
  }
}

/**
 * Writes to the log of the run whose code calls it, as `ctx.logger` does. Outside of runs, each line goes with the same arguments
 * to the runner's `log` option, or to the console if there is none.
 */
export const log: Logger = {
  debug: method('debug'),
  info: method('info'),
  warn: method('warn'),
  error: method('error'),
}
