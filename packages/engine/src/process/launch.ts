// Settings of an engine to start, and the started engine. Apart from launch-engine.ts, so that a caller need not load the engine.

export interface LaunchOptions {
  env: NodeJS.ProcessEnv
  flags: Record<string, string>
  /** Where the log goes: JSON lines. Default: stderr. */
  log?: { write(line: string): void }
}

/** An engine that is listening. */
export interface LaunchedEngine {
  /** The URL for callers on this machine. */
  readonly url: string
  /** Lines for the terminal: the address, the store, the keys. */
  readonly banner: readonly string[]
  /**
   * Drains and stops it (see `Engine.stop`); `signal` is the reason, for the log. Resolves to a sentence if its store had failed
   * or was lost.
   */
  stop(signal?: string): Promise<string | undefined>
}

/** An engine that cannot be started. Its message is the one line that `perdure serve` prints. */
export class LaunchError extends Error {
  override name = 'LaunchError'
}
