// `client.start()` starts a run of a workflow directly, and handles of runs wait for their results. Called by client.ts.

import type { Attributes, RunResult, RunSummary, StartRun } from '@perdure/protocol'
import { getFromEngine, postToEngine } from '../engine/http.ts'
import type { MiddlewareChain } from '../middleware/chain.ts'
import { PerdureError, RunEndedError } from '../wire/errors.ts'

/** Options of starting a run. */
export interface StartOptions {
  /** Id of the run: `run_` and 8 to 64 letters, digits, `_` or `-`. With it the call can be repeated: a repeat starts nothing. */
  runId?: string
  /** Attributes of the run, by which it is found. */
  attributes?: Attributes
  /** The app of the workflow. Default: the client's. */
  app?: string
  signal?: AbortSignal
  /** Deadline of the call. */
  timeoutMs?: number
}

/** A run, and the way to its result. */
export interface RunHandle<Output = unknown> {
  readonly runId: string
  /**
   * Waits until the run has ended, and resolves with its result. Rejects with a `RunEndedError` when it failed or was
   * cancelled, and with a `PerdureError` of code `timeout` when it has not ended after `timeoutMs` (default: no limit).
   */
  result(options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<Output>
}

/** The engine as calls of a client reach it. */
export interface Starter {
  /** Address of the engine. */
  base: string
  apiKey: string | undefined
  app: string | undefined
  timeoutMs: number
  middleware: MiddlewareChain
}

/** Longest wait of one call for the end of the run. */
const WAIT_MS_MAX = 30_000
/** Between two calls: an engine with too many waiters answers at once. */
const PAUSE_MS = 250

/** `Client.start`. */
export function starter(engine: Starter) {
  return async (
    workflow: string | { name: string },
    input?: unknown,
    options: StartOptions = {},
  ): Promise<RunHandle<never>> => {
    const { runId, attributes, signal, app = engine.app, timeoutMs = engine.timeoutMs } = options
    const name = typeof workflow === 'string' ? workflow : workflow.name
    if (app === undefined) throw new TypeError(`start("${name}") needs \`app\`, of the call or of the client`)
    const url = `${engine.base}/workflows/${encodeURIComponent(app)}/${encodeURIComponent(name)}/runs`
    const sent = engine.middleware.output(input, { kind: 'event', name })
    const body: StartRun = { input: sent, ...(runId !== undefined && { runId }), ...(attributes && { attributes }) }
    const call = { url, apiKey: engine.apiKey, body, signal, timeoutMs, isRepeatable: runId !== undefined }
    return handleOf(engine, name, (await postToEngine<RunSummary>(call)).id)
  }
}

/** Returns the handle of a run of the workflow. */
export function handleOf(engine: Starter, workflow: string, runId: string): RunHandle<never> {
  return { runId, result: wait => resultOf(engine, { id: runId, workflow }, wait) }
}

async function resultOf(
  engine: Starter,
  { id: runId, workflow: name }: { id: string; workflow: string },
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<never> {
  const until = performance.now() + (timeoutMs ?? Number.POSITIVE_INFINITY)
  for (;;) {
    const waitMs = Math.ceil(Math.min(WAIT_MS_MAX, Math.max(0, until - performance.now())))
    const url = `${engine.base}/runs/${encodeURIComponent(runId)}/result?wait=${waitMs}`
    const call = { url, apiKey: engine.apiKey, signal, timeoutMs: engine.timeoutMs + waitMs }
    const { status, result, error } = await getFromEngine<RunResult>(call)
    if (status === 'succeeded') return engine.middleware.input(result, { kind: 'child', name }) as never
    if (status === 'failed' || status === 'cancelled')
      throw new RunEndedError({ id: runId, status, ...(error && { error }) })
    if (performance.now() >= until) {
      const message = `Run ${runId} has not ended within ${timeoutMs} ms: it is ${status}`
      throw new PerdureError({ code: 'timeout', status: 0, message })
    }
    await pause(Math.min(PAUSE_MS, until - performance.now()), signal)
  }
}

/** Resolves after the time, or rejects with the signal's reason. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
