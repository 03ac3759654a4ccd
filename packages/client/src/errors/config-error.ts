// The error of a setting that is read from the environment.

/** An environment variable is invalid: the runner or client does not start. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
    // No line of code is at fault. If nobody catches the error, Node prints only this stack.
    this.stack = `${this.name}: ${message}`
  }
}
