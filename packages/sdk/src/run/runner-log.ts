// The runner's own log: its state, and errors that belong to no step.

/** Takes a line of the runner's log. */
export type RunnerLog = (level: 'info' | 'warn' | 'error', message: string) => void

/** The default: the console of the runner's process. */
export const toConsole: RunnerLog = (level, message) => console[level](`perdure: ${message}`)
