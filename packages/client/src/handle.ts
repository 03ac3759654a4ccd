// Starts a run of a workflow directly, and gives handles of runs: their result, their status, their cancellation. Called by
// send.ts.

import {
  type Attributes,
  DURATION_FORMS,
  type Duration,
  type IfRunning,
  parseDurationMs,
  type RunStatus,
  type StartRun,
} from '@perdure/protocol/portable'
import { PerdureError } from './errors/call-errors.ts'
import { RunEndedError } from './errors/run-ended.ts'
import { backOff } from './http/stream.ts'
import { type OptionNames, refuseUnknownOptions } from './schema/known-options.ts'
import type { CallOptions, OperationMethods } from './types.ts'
import type { ValueChain } from './values/value-chain.ts'

declare const sent: unique symbol

/** A workflow as a client knows it. `Sent` is the type of the data that starts it, before validation. */
export interface WorkflowRef<Output = unknown, Sent = unknown> {
  readonly name: string
  handler(args: never): Output | Promise<Output>
  /** Only for type inference; never set. */
  readonly [sent]?: { takes(data: Sent): void }
}

/** Options of starting a run. */
export interface StartOptions {
  /** Id of the run: `run_` and 8 to 64 letters, digits, `_` or `-`. With it the call can be repeated: a repeat starts nothing. */
  runId?: string
  /** A workflow has at most one live run with a key. The key is free again when the run ends. At most 256 characters. */
  key?: string
  /**
   * Decides about a start while a run with the `key` is live: `use` (default) gives the handle of that run, `refuse` rejects with an `ApiError` of
   * code `already_running` and `details.runId`, `cancel` cancels that run and starts the new one in one commit.
   */
  ifRunning?: IfRunning
  /** Attributes of the run, by which it is found. */
  attributes?: Attributes
  /** The app of the workflow. Default: the client's. */
  app?: string
  signal?: AbortSignal
  /** Deadline of the call. */
  timeoutMs?: number
}

const START_OPTIONS: OptionNames<StartOptions> = {
  runId: true,
  key: true,
  ifRunning: true,
  attributes: true,
  app: true,
  signal: true,
  timeoutMs: true,
}

/** Options of a call of a handle. */
export interface HandleOptions {
  signal?: AbortSignal
  /** Deadline of the call. For a result: how long to wait for the end of the run. */
  timeoutMs?: number
}

const HANDLE_OPTIONS: OptionNames<HandleOptions> = { signal: true, timeoutMs: true }

/** A run, and the way to its result. */
export interface RunHandle<Output = unknown> {
  readonly runId: string
  /** Only of `start`: whether the run was there already, by its `runId` or `key`, so that nothing was started. */
  readonly existing?: boolean
  /**
   * Waits until the run has ended, and resolves with its result. Rejects with a `RunEndedError` when it failed or was
   * cancelled, and with a `PerdureError` of code `timeout` when it has not ended after `timeoutMs` (default: no limit).
   */
  result(options?: HandleOptions): Promise<Output>
  /** Resolves with the status of the run now, such as `running`, `waiting` or `succeeded`. */
  status(options?: HandleOptions): Promise<RunStatus>
  /**
   * Cancels the run, its open steps and its children. Resolves when the engine has stored that. Rejects with an `ApiError` of code
   * `run_terminal` when the run has ended. It needs an API key of kind `secret`.
   */
  cancel(options?: HandleOptions): Promise<void>
  /**
   * Sends a signal to the run, for its `step.waitForSignal`. Resolves when the engine has stored it; `woke` is 1 if the run waited for it.
   * Rejects with an `ApiError` of code `run_ended` when the run has ended. A key of kind `event` is enough.
   */
  signal(name: string, data?: unknown, options?: SignalOptions): Promise<{ eventId: string; woke: number }>
  /**
   * Sends an update to the run and resolves with the answer of its handler. Rejects with an `ApiError` of code `rejected`, which has the
   * message of the handler, or `run_ended`, and with a `PerdureError` of code `timeout` after `timeout` (default: no limit).
   */
  update<Reply = unknown>(name: string, data?: unknown, options?: UpdateOptions): Promise<Reply>
}

/** Options of sending a signal. */
export interface SignalOptions extends HandleOptions {
  /** A signal with the same id to the same run within 24 hours is sent once. */
  dedupeId?: string
}

const SIGNAL_OPTIONS: OptionNames<SignalOptions> = { ...HANDLE_OPTIONS, dedupeId: true }

/** Options of sending an update. */
export interface UpdateOptions {
  /** How long to wait for the answer; default: no limit. */
  timeout?: Duration
  /** An update with the same id to the same run within 24 hours is the same one, with the same answer. */
  dedupeId?: string
  signal?: AbortSignal
}

const UPDATE_OPTIONS: OptionNames<UpdateOptions> = { timeout: true, dedupeId: true, signal: true }

/** The engine, as the methods for runs use it. */
export interface Engine {
  operations: OperationMethods
  app: string | undefined
  /** Deadline of each call, beyond the time that it waits for a result. */
  timeoutMs: number
  middleware: ValueChain
}

/** Longest wait of one call for the end of the run. */
const WAIT_MS_MAX = 25_000
/** The longest pause between two calls: an engine with too many waiters answers at once. */
const PAUSE_MS_MAX = 250

/** `Client.start`. */
export function starter(engine: Engine) {
  return async (
    workflow: string | { name: string },
    input?: unknown,
    options: StartOptions = {},
  ): Promise<RunHandle<never>> => {
    refuseUnknownOptions('start', options, START_OPTIONS)
    const { runId, key, ifRunning, attributes, app = engine.app } = options
    const name = typeof workflow === 'string' ? workflow : workflow.name
    if (app === undefined) throw new TypeError(`start("${name}") needs \`app\`, in the call or in createClient`)
    const sent = engine.middleware.output(input, { kind: 'event', name })
    const body: StartRun = {
      input: sent,
      ...(runId !== undefined && { runId }),
      ...(key !== undefined && { key }),
      ...(ifRunning !== undefined && { ifRunning }),
      ...(attributes && { attributes }),
    }
    const call = { ...callOf(engine, options), isRepeatable: runId !== undefined }
    const { id, existing = false } = await engine.operations.startRun({ app, name, body }, call)
    return { ...handleOf(engine, name, id), existing }
  }
}

/** Returns the handle of a run of the workflow. */
export function handleOf(engine: Engine, workflow: string, runId: string): RunHandle<never> {
  const { operations } = engine
  return {
    runId,
    result: options => resultOf(engine, { id: runId, workflow }, options),
    async status(options = {}) {
      refuseUnknownOptions('status', options, HANDLE_OPTIONS)
      return (await operations.getRunResult({ id: runId }, callOf(engine, options))).status
    },
    async cancel(options = {}) {
      refuseUnknownOptions('cancel', options, HANDLE_OPTIONS)
      await operations.cancelRun({ id: runId }, callOf(engine, options))
    },
    async signal(name, data, options = {}) {
      refuseUnknownOptions('signal', options, SIGNAL_OPTIONS)
      const { dedupeId = drawnId() } = options
      const body = signalBody(engine, name, { data, dedupeId })
      const call = { ...callOf(engine, options), isRepeatable: true }
      const { eventId, woke } = await operations.signalRun({ id: runId, name, body }, call)
      return { eventId, woke }
    },
    update: (name, data, options) => updateOf(engine, runId, { name, data, options }),
  }
}

/** The options of an operation. */
function callOf(engine: Engine, { signal, timeoutMs = engine.timeoutMs }: HandleOptions): CallOptions {
  return { timeoutMs, ...(signal && { signal }) }
}

function signalBody({ middleware }: Engine, name: string, { data, dedupeId }: { data: unknown; dedupeId: string }) {
  const sent = middleware.output(data, { kind: 'event', name })
  return { ...(sent !== undefined && { data: sent }), dedupeId }
}

/** An id with which a call can be repeated. */
function drawnId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Repeats the call until the run has answered: a repeat with the same id waits for the answer to the first. */
async function updateOf(
  engine: Engine,
  id: string,
  { name, data, options = {} }: { name: string; data: unknown; options?: UpdateOptions | undefined },
): Promise<never> {
  refuseUnknownOptions('update', options, UPDATE_OPTIONS)
  const { timeout, dedupeId = drawnId(), signal } = options
  const timeoutMs = timeout === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(timeout)
  if (timeoutMs === undefined) throw new TypeError(`update("${name}"): timeout must be ${DURATION_FORMS}`)
  const body = signalBody(engine, name, { data, dedupeId })
  return untilValue(engine, { timeoutMs, signal }, async (wait, options) => {
    const call = { ...options, isRepeatable: true }
    const answered = await engine.operations.updateRun({ id, name, wait, body }, call)
    if ('reply' in answered) return { value: engine.middleware.input(answered.reply, { kind: 'child', name }) }
    return { late: `Run ${id} has not answered update "${name}" within ${timeoutMs} ms` }
  })
}

async function resultOf(
  engine: Engine,
  { id, workflow: name }: { id: string; workflow: string },
  options: HandleOptions = {},
): Promise<never> {
  refuseUnknownOptions('result', options, HANDLE_OPTIONS)
  return untilValue(engine, options, async (wait, call) => {
    const { status, result, error } = await engine.operations.getRunResult({ id, wait }, call)
    if (status === 'succeeded') return { value: engine.middleware.input(result ?? null, { kind: 'child', name }) }
    if (status === 'failed' || status === 'cancelled') throw new RunEndedError({ id, status, ...(error && { error }) })
    return { late: `Run ${id} has not ended within ${options.timeoutMs} ms: it is ${status}` }
  })
}

/** Repeats a call that waits at the engine until it gives a value. Rejects with the message `late` when the time is over. */
async function untilValue(
  engine: Engine,
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: { timeoutMs?: number; signal?: AbortSignal | undefined },
  ask: (waitMs: number, call: CallOptions) => Promise<{ value: unknown } | { late: string }>,
): Promise<never> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const waitMs = Math.ceil(Math.min(WAIT_MS_MAX, Math.max(0, until - performance.now())))
    const call = callOf(engine, { ...(signal && { signal }), timeoutMs: engine.timeoutMs + waitMs })
    const answer = await ask(waitMs, call)
    if ('value' in answer) return answer.value as never
    if (performance.now() >= until) throw new PerdureError({ code: 'timeout', status: 0, message: answer.late })
    await backOff(Math.min(PAUSE_MS_MAX, until - performance.now()), signal)
  }
}
