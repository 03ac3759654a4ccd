// Runs an engine in its own thread, for `perdure serve` and `perdure dev`. A thread can have a larger young generation than Node
// gives the first thread, where only a command-line flag changes it (docs/decisions/0018-young-generation.md). Signals, the
// terminal and the exit code stay with the first thread.

import { isMainThread, Worker } from 'node:worker_threads'
import type { EngineThreadData, EngineThreadMessage, EngineThreadOrder } from './engine-thread.ts'
import { LaunchError, type LaunchedEngine, type LaunchOptions } from './launch.ts'

/** Two semi-spaces of 64 MiB, and as much for large objects. */
const YOUNG_GENERATION_MB = 3 * 64

/**
 * Whether the engine gets its own thread. Flags of Node, such as a preloaded SDK, a profiler or a bound of the heap, are meant
 * for the first thread: with any flag the engine runs there. It also runs there from source: Node 20 cannot load TypeScript in a
 * thread.
 */
export function runsInThread(): boolean {
  return isMainThread && process.execArgv.length === 0 && !process.env.NODE_OPTIONS && !import.meta.url.endsWith('.ts')
}

/** Starts an engine as `launchHere` does. If the thread fails later, the process fails with its error. */
export function launchInThread({ env, flags, log }: LaunchOptions): Promise<LaunchedEngine> {
  const workerData: EngineThreadData = { env: { ...env }, flags, sendsLog: log !== undefined }
  const worker = new Worker(new URL('./engine-thread.js', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    name: 'perdure engine',
  })
  const { promise: stopped, resolve: onStopped } = deferred<string | undefined>()
  let isStopped = false
  const stop = (signal?: string): Promise<string | undefined> => {
    worker.postMessage({ kind: 'stop', signal } satisfies EngineThreadOrder)
    return stopped
  }
  return new Promise((resolve, reject) => {
    let isReady = false
    const fail = (error: Error): void => {
      if (isReady) throw error
      reject(error)
    }
    worker.on('message', (message: EngineThreadMessage) => {
      if (message.kind === 'log') log?.write(message.line)
      else if (message.kind === 'refused') {
        isStopped = true
        reject(new LaunchError(message.message))
      } else if (message.kind === 'stopped') {
        isStopped = true
        onStopped(message.failure)
      } else {
        isReady = true
        resolve({ url: message.url, banner: message.banner, stop })
      }
    })
    worker.on('error', fail)
    worker.on('exit', code => {
      if (!isStopped) fail(new Error(`the engine's thread has ended with exit code ${code}`))
    })
  })
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}
