// The runner's own log: its state, and errors that belong to no step.

type Level = 'info' | 'warn' | 'error'

/** Takes a line of the runner's log. */
export type RunnerLog = (level: Level, message: string) => void

/** A logger with a method for each level, such as `console`, or one of pino or winston. */
export interface LevelLogger {
  info(message: string): unknown
  warn(message: string): unknown
  error(message: string): unknown
}

/** The default: the console of the runner's process. */
export const toConsole: RunnerLog = (level, message) => console[level](`perdure: ${message}`)

/** Converts the `log` option to one function. Throws a TypeError for a value that is neither a function nor a logger. */
export function runnerLogOf(log: RunnerLog | LevelLogger | undefined): RunnerLog {
  if (log === undefined) return toConsole
  if (typeof log === 'function') return log
  const missing = (['info', 'warn', 'error'] as const).find(level => typeof log?.[level] !== 'function')
  if (missing === undefined) return (level, message) => void log[level](message)
  const given = typeof log === 'object' && log !== null ? `an object without the method ${missing}` : String(log)
  throw new TypeError(
    `\`log\` must be a logger with info, warn and error (console, pino, winston) or a function (level, message) => void, not ${given}`,
  )
}
