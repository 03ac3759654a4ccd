// Types of a handler's argument that do not depend on workflows: the event, `ctx`, and the context of a step callback.

import type { Duration } from '@perdure/client'
import type { Logger } from './logger.ts'
import type { OutputStream } from './output-stream.ts'
import type { Amounts } from './spent.ts'

/**
 * The event that started the run. The `data` of a child run is the data its parent passed; the `data` of a scheduled
 * run is `{cron, scheduledAt, previousAt?}`.
 */
export interface WorkflowEvent<Data = unknown, Name extends string = string> {
  readonly id?: string
  readonly name: Name
  readonly data: Data
}

/** The event that a `step.waitForEvent` received. */
export interface ReceivedEvent<Data = unknown, Name extends string = string> {
  readonly id: string
  readonly name: Name
  readonly data: Data
  /** RFC 3339. */
  readonly receivedAt: string
}

/** The event of a workflow with `batch`, or with `debounce` in mode `all`: its data is the list of the payloads. */
export interface BatchEvent<Data = unknown, Name extends string = string> extends WorkflowEvent<Data[], Name> {
  /** The events, in the order of the list. Empty if the run was not started by events. */
  readonly events: readonly ReceivedEvent<Data, Name>[]
}

/** A signal or an update that a `step.waitForSignal` took. Its methods are durable steps. */
export interface ReceivedSignal<Data = unknown> extends ReceivedEvent<Data> {
  /** Answers an update; only the first answer counts. Does nothing on a plain signal, because nobody waits for its answer. */
  reply(value?: unknown): Promise<void>
  /** Rejects an update: its sender gets the message. */
  reject(message: string): Promise<void>
}

/** The argument of the callback of a `step.run`. */
export interface StepContext {
  /** Aborts when the run is cancelled, or when the pass ends without this step's result. */
  readonly signal: AbortSignal
  /** Number of this attempt of the step, from 1. It counts failed attempts; `ctx.attempt` counts those of the run. */
  readonly attempt: number
  /** Number of the step's last attempt; `Infinity` if its policy sets no limit. */
  readonly maxAttempts: number
  /** The same on every attempt of this step, and different for every other step. Pass it to the services you call. */
  readonly idempotencyKey: string
  /** Writes log lines whose scope is this step's name. */
  readonly logger: Logger
  /**
   * Adds amounts that the attempt spends to the budgets of the run and of the runs above it (`budget` of a workflow), such as `{
   * usd: 0.013, tokens: 912 }`. They count once, when the attempt is reported, even if it fails. Without a budget they are
   * ignored.
   */
  readonly spend: (amounts: Amounts) => void
  /**
   * Returns the output stream of the run with this name, to which the attempt may write while it runs. The same name returns the
   * same stream. A name has up to 64 letters, digits, `_`, `.` or `-`; a run has up to 64 streams.
   */
  readonly stream: (name: string) => OutputStream
}

/** Attributes to set, by key; null removes one, and undefined changes nothing. */
export type AttributeValues = Readonly<Record<string, string | number | boolean | null | undefined>>

/** A step that somebody outside completes. */
export interface Callback<Data = unknown> {
  /**
   * Post JSON to this URL to complete the step; no API key is needed. The URL is a secret that works once. You can give it away
   * before anything waits: an early post is kept.
   */
  readonly url: string
  /** Parks the run until the post. Resolves with the posted JSON, `{}` if there was none, or null when the wait timed out. */
  wait(): Promise<Data | null>
}

/** The run's identity, its logger, and steps whose names the SDK chooses. */
export interface RunContext {
  readonly runId: string
  readonly app: string
  readonly workflow: string
  /** The run's attempt counter: 1 at first, one more for every retry. */
  readonly attempt: number
  /** The runner that this run is pinned to; empty when any runner may serve it. */
  readonly runner: string
  /** W3C trace context of the engine's invoke. */
  readonly traceparent?: string
  /** Logs for the handler, or for the step in whose callback it is used. Each line is stored once, despite replays. */
  readonly logger: Logger
  /**
   * Returns the time in epoch milliseconds, stored as a step: it is the same in every pass, unlike `Date.now()`. Like `random`
   * and `uuid` it costs one step, so call it once, or call several together in a `Promise.all`.
   */
  now(): Promise<number>
  /** Returns a number from 0 up to 1, stored as a step. Not for secrets. */
  random(): Promise<number>
  /** Returns a random UUID (version 4), stored as a step. */
  uuid(): Promise<string>
  /**
   * Sets attributes of the run: facts by which lists find it. They are stored with the pass, together with its steps. A key has
   * up to 64 letters, digits, `_`, `.` or `-`; a string has up to 256 characters; a run has up to 32 attributes.
   */
  attributes(values: AttributeValues): void
  /**
   * Reports how far the run is: any JSON up to 16 KiB except null. The newest value is shown with the run and on its stream. A
   * Connect runner sends it at once, even while a step runs, at most five times a second; other runners send it with the answer
   * of the pass. A call that a replay repeats reports nothing.
   */
  progress(value: unknown): void
  /**
   * Creates a step that somebody outside completes by a post to its URL, such as an approval by a link in a mail. The URL is the
   * same in every pass. The timeout starts when the run parks at `wait()`; by default there is none.
   */
  callback<Data = unknown>(name: string, options?: { timeout?: Duration }): Callback<Data>
  /**
   * Ends the run and starts a new one of the same workflow with this data: `return ctx.continueAs(data)`. For loops that never
   * end, and runs that would have too many steps. The new run has the same pin, attributes and priority, and its result goes to
   * the parent. A caller that waits for the result gets the result of the last run.
   */
  continueAs(data?: unknown): never
  readonly webhook: {
    /** Posts `data` to `url` as a step, unsigned. The engine retries it. Resolves when the delivery is queued. */
    send(name: string, options: { url: string; data?: unknown }): Promise<void>
  }
}
