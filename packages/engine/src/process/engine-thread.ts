// The entry of the thread that runs an engine. Started by launch-in-thread.ts, which gives it the settings, and later the order
// to stop.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { LaunchError } from './launch.ts'
import { launchHere } from './launch-here.ts'

export interface EngineThreadData {
  env: NodeJS.ProcessEnv
  flags: Record<string, string>
  /** Log lines are posted; otherwise the thread writes them to stderr. */
  sendsLog: boolean
}

export interface EngineThreadOrder {
  kind: 'stop'
  /** The reason, for the log. */
  signal: string | undefined
}

export type EngineThreadMessage =
  | { kind: 'ready'; url: string; banner: readonly string[] }
  /** The engine cannot be started; the thread ends. */
  | { kind: 'refused'; message: string }
  | { kind: 'log'; line: string }
  /** The engine has stopped; the thread ends. */
  | { kind: 'stopped'; failure: string | undefined }

const { env, flags, sendsLog } = workerData as EngineThreadData
const port = parentPort as MessagePort

function post(message: EngineThreadMessage): void {
  port.postMessage(message)
}

/** Keeps the thread alive until the order arrives. */
function untilOrdered(): Promise<EngineThreadOrder> {
  return new Promise(resolve => {
    port.once('message', resolve)
  })
}

const ordered = untilOrdered()
try {
  const log = { write: (line: string) => post({ kind: 'log', line }) }
  const engine = await launchHere({ env, flags, ...(sendsLog && { log }) })
  post({ kind: 'ready', url: engine.url, banner: engine.banner })
  const failure = await engine.stop((await ordered).signal)
  post({ kind: 'stopped', failure })
} catch (error) {
  if (!(error instanceof LaunchError)) throw error
  post({ kind: 'refused', message: error.message })
} finally {
  port.close()
}
