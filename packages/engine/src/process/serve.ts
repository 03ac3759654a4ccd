// One engine process from its settings to its end: `perdure serve`, and the engine of `perdure dev`.

import { heapProblem } from '../base/heap.ts'
import { LaunchError, type LaunchedEngine, type LaunchOptions } from './launch.ts'

export { FLAGS, SWITCHES } from '../config/config.ts'
export { LaunchError, type LaunchedEngine, type LaunchOptions } from './launch.ts'

export interface ServeOptions extends LaunchOptions {
  /** Where the banner goes. */
  print(line: string): void
}

/** Exit code after a failed start, and of an engine whose store failed or was lost: a restart alone may not help. */
const EXIT_FAILED = 2
/** Time for a start under way to complete when the process is to end. */
const START_MS_MAX_WHEN_STOPPED = 1000

/** Signals that end an engine in order. SIGHUP arrives when the engine's terminal is closed. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs until a signal ends it; resolves to the exit code. */
export async function serve({ print, ...options }: ServeOptions): Promise<number> {
  const signalled = untilSignal()
  let engine: LaunchedEngine | undefined
  try {
    engine = await launchUnlessStopped(options, signalled)
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    process.stderr.write(`perdure: ${error.message}\n`)
    return EXIT_FAILED
  }
  if (!engine) {
    process.stderr.write(`perdure: ended by ${await signalled} before the engine had started\n`)
    return 0
  }
  for (const line of engine.banner) print(line)
  const failure = await engine.stop(await signalled)
  if (failure === undefined) return 0
  process.stderr.write(`perdure: ${failure}\n`)
  return EXIT_FAILED
}

/**
 * Starts an engine. If `stopped` resolves during the start, the start has a moment to complete, so
 * that the engine ends in order. A start that takes longer, because it waits for a server or a migration, is abandoned: the
 * result is undefined.
 */
export async function launchUnlessStopped(
  options: LaunchOptions,
  stopped: Promise<unknown>,
): Promise<LaunchedEngine | undefined> {
  // Checked before the engine is loaded, which a small heap may not allow.
  const problem = heapProblem()
  if (problem !== undefined) throw new LaunchError(problem)
  const launch = import('./launch-engine.ts').then(({ launchEngine }) => launchEngine(options))
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const late = new Promise<undefined>(resolve => {
    void stopped.then(() => {
      if (!isOver) timer = setTimeout(resolve, START_MS_MAX_WHEN_STOPPED, undefined)
    })
  })
  try {
    const engine = await Promise.race([launch, late])
    if (!engine) void launch.then(started => started.stop()).catch(() => {})
    return engine
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}

/** Resolves at the first signal to end. A second signal exits at once; recovery is then the same as after a crash. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let seen = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (seen) process.exit(1)
      seen = true
      resolve(signal)
    }
    for (const signal of END_SIGNALS) process.on(signal, onSignal)
  })
}
