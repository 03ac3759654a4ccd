// `TestRun`: a run on the engine under test. Every read first waits until the engine is idle. Created by test-engine.ts.

import type { Duration, Json } from '@perdure/client'
import { refuseUnknownOptions } from '@perdure/client/internal'
import {
  DURATION_FORMS,
  hashStepId,
  parseDurationMs,
  type Run,
  type RunLogLine,
  type RunStatus,
  type StepRecord,
  TERMINAL_STATUSES,
} from '@perdure/protocol'
import { RunFailedError, TestingError } from './host/errors.ts'
import type { Host } from './host/host.ts'
import { type TestStream, testStream } from './host/test-stream.ts'

/** Options of a read that may move the virtual time. */
export interface WithinOptions {
  /** Moves the virtual time forward as far as necessary, but at most this long. Default 0: the time stands still. */
  within?: Duration
}

/** Number of log lines per page when reading a run's log. */
const LOG_PAGE_LINES = 1000
const PARKED: readonly string[] = ['waiting', 'retrying']
export const ENDED: readonly RunStatus[] = TERMINAL_STATUSES

/** A run on the engine under test. */
export class TestRun<Output = unknown> {
  readonly id: string
  /** Name of the workflow. */
  readonly workflow: string
  readonly #host: Host

  /** @internal Use `engine.start()`, `send()` or `runs()`. */
  constructor(host: Host, { id, workflow }: { id: string; workflow: string }) {
    this.#host = host
    this.id = id
    this.workflow = workflow
  }

  /** Returns the run's record from the engine. */
  async read(): Promise<Run> {
    return this.#host.read(api => api.getRun({ id: this.id }))
  }

  async status(): Promise<RunStatus> {
    return (await this.read()).status
  }

  /** Returns the newest value that the handler has reported with `ctx.progress`; undefined if there is none. */
  async progress(): Promise<unknown> {
    return (await this.read()).progress?.value
  }

  /** Explains the state of the run in a sentence. */
  async why(): Promise<string> {
    return (await this.#host.read(api => api.explainRun({ id: this.id }))).sentence
  }

  /**
   * Returns the workflow's result. If the run continued as another one, waits for the last run and returns its result. Rejects
   * with a {@link RunFailedError} if the run failed or was cancelled, and with a {@link TestingError} that describes its state if
   * it does not end within the given time.
   */
  async result(options: WithinOptions = {}): Promise<Json<Output>> {
    const end = () => this.#host.read(api => api.getRunResult({ id: this.id }))
    await this.#advance(options, async () => ENDED.includes((await end()).status))
    const { runId } = await end()
    const run = await this.#host.read(api => api.getRun({ id: runId }))
    if (run.status === 'succeeded') return (run.result ?? null) as Json<Output>
    if (run.status === 'failed' || run.status === 'cancelled') throw new RunFailedError(run)
    throw new TestingError(await this.#describe('has not ended', run))
  }

  /** Returns the error of a failed or cancelled run. Rejects with a {@link TestingError} for any other run. */
  async failure(options: WithinOptions = {}): Promise<RunFailedError> {
    try {
      await this.result(options)
    } catch (error) {
      if (error instanceof RunFailedError) return error
      throw error
    }
    throw new TestingError(`Run ${this.id} of "${this.workflow}" succeeded`)
  }

  /**
   * Returns the record of the step when the run is parked at the step with this name: a sleep, a wait, a child, or a retry.
   * Rejects with a {@link TestingError} that describes the run's state if it does not park there within the given time.
   */
  async parkedAt(stepName: string, options: WithinOptions = {}): Promise<StepRecord> {
    const id = hashStepId(stepName)
    // The name means each of its uses; `name:n` means only that use.
    const isMeant = (step: StepRecord) => step.name === stepName || step.id === id
    const parked = async () => (await this.steps()).find(step => isMeant(step) && PARKED.includes(step.status))
    await this.#move(options, async () => (await parked()) !== undefined)
    const run = await this.read()
    const step = ENDED.includes(run.status) ? undefined : await parked()
    if (step) return step
    throw new TestingError(await this.#describe(`is not parked at "${stepName}"`, run))
  }

  /** Returns the steps so far, in the order of their execution. */
  async steps(): Promise<StepRecord[]> {
    return (await this.#host.read(api => api.listRunSteps({ id: this.id }))).items
  }

  /** Returns the step with this name (`name:n` from the second use of a name on); undefined before the run reaches it. */
  async step(stepName: string): Promise<StepRecord | undefined> {
    this.#host.steps.names.asked('step', stepName)
    const id = hashStepId(stepName)
    const steps = await this.steps()
    for (const { name } of steps) this.#host.steps.names.called(name, this.workflow)
    return steps.find(step => step.id === id)
  }

  /** Returns the log lines so far, oldest first. */
  async logs(): Promise<RunLogLine[]> {
    const lines: RunLogLine[] = []
    for (let from = 0; ; from = lines.at(-1)?.seq ?? from) {
      const query = { id: this.id, from, limit: LOG_PAGE_LINES }
      const page = await this.#host.read(api => api.listRunLogs(query))
      lines.push(...page)
      if (page.length < LOG_PAGE_LINES) return lines
    }
  }

  /** Returns the output stream of this name, as far as it has been written. Rejects if the run has ended without it. */
  async stream(name: string): Promise<TestStream> {
    return testStream(await this.#host.read(api => api.readRunStream({ id: this.id, name })))
  }

  /**
   * Returns how often the callback of the step has run: 1 for a step that succeeded at once, one more for each failed attempt and
   * for each crash during the callback. A name counts all of its uses, `name:n` counts only that use.
   */
  executions(stepName: string): number {
    return this.#host.steps.count(this.id, stepName)
  }

  /** Returns the child runs that the run has started, in the order of its steps. */
  async children(): Promise<TestRun[]> {
    const started = (await this.steps()).flatMap(({ childRunId }) => childRunId ?? [])
    return Promise.all(started.map(id => openRun(this.#host, id)))
  }

  /**
   * Posts `data` to the callback of this name (`name:n` from the second use of a name on), as somebody outside would. Rejects if
   * the callback was used or has timed out, or if the run has ended.
   */
  async callback(name: string, data?: unknown): Promise<void> {
    this.#host.steps.names.asked('callback', name)
    const url = this.#host.callbackUrl(this.id, hashStepId(name))
    const token = url.slice(url.lastIndexOf('/') + 1)
    await this.#host.command(api => api.completeCallback({ token, ...(data === undefined ? {} : { body: data }) }))
  }

  /** Sends a signal to the run. Resolves with its id in the event log, and with `woke` 1 if the run was waiting for it. */
  async signal(name: string, data?: unknown): Promise<{ eventId: string; woke: number }> {
    const body = data === undefined ? {} : { body: { data } }
    return this.#host.command(api => api.signalRun({ id: this.id, name, ...body }))
  }

  /**
   * Sends an update to the run, moves the virtual time until the handler has answered it, and resolves with the answer. Rejects
   * if the handler rejects it, or if the run ends without an answer.
   */
  async update<Reply = unknown>(name: string, data?: unknown, options: WithinOptions = {}): Promise<Reply> {
    const body = data === undefined ? {} : { body: { data } }
    const { updateId } = await this.#host.command(api => api.updateRun({ id: this.id, name, ...body }))
    const answer = () => this.#host.read(api => api.getRunUpdate({ id: this.id, updateId }))
    await this.#advance(options, async () => 'reply' in (await answer()))
    const answered = await answer()
    if ('reply' in answered) return answered.reply as Reply
    throw new TestingError(await this.#describe(`has not answered update "${name}"`, await this.read()))
  }

  /**
   * Ends an outstanding step (`name:n` from the second use of a name on), as an operator would: with a result, or with an error
   * that the handler can catch. Rejects if the step is settled or the run has ended.
   */
  async settle(name: string, end: { data: unknown } | { error: { message: string; name?: string } }): Promise<void> {
    this.#host.steps.names.asked('settle', name)
    const body = { ...end, reason: 'settled by the test' }
    await this.#host.command(api => api.settleStep({ id: this.id, stepId: name, body }))
  }

  /** Cancels the run. With `cleanup: false` nothing is undone, and `onCancel` is not called. */
  async cancel(options: { cleanup?: boolean } = {}): Promise<void> {
    refuseUnknownOptions('cancel', options, { cleanup: true })
    const body = options.cleanup === undefined ? {} : { body: { cleanup: options.cleanup } }
    await this.#host.command(api => api.cancelRun({ id: this.id, ...body }))
  }

  /** Returns the run that cleans up after this run: its rollbacks and `onCancel`. Undefined if none follows. */
  async cleanup(): Promise<TestRun | undefined> {
    return this.#followedBy('cleanup')
  }

  /** Returns the run of the workflow's `onFailure` that follows this failed run. Undefined if none follows. */
  async onFailure(): Promise<TestRun | undefined> {
    return this.#followedBy('onFailure')
  }

  async #followedBy(kind: 'cleanup' | 'onFailure'): Promise<TestRun | undefined> {
    const query = { parentRunId: this.id, kind, limit: 1 } as const
    const [run] = (await this.#host.read(api => api.listRuns(query))).items
    return run && new TestRun(this.#host, run)
  }

  /** Pauses the run. The current step finishes and its result is stored; the next step waits for {@link resume}. */
  async pause(): Promise<void> {
    await this.#host.command(api => api.pauseRun({ id: this.id }))
  }

  /** Resumes a paused run. */
  async resume(): Promise<void> {
    await this.#host.command(api => api.resumeRun({ id: this.id }))
  }

  /**
   * Sets limits of the run's own budget, such as `{ usd: 10, tokens: null }`, where null removes one, and resumes the runs that
   * wait for the budget.
   */
  async setBudget(limits: Readonly<Record<string, number | null>>): Promise<void> {
    await this.#host.command(api => api.setRunBudget({ id: this.id, body: { ...limits } }))
  }

  /** Starts a new run with the same input, or with another: `replay({ input })`. Only for a run that has ended. */
  async replay(options: { input?: unknown } = {}): Promise<TestRun<Output>> {
    refuseUnknownOptions('replay', options, { input: true })
    const body = 'input' in options ? { body: { input: options.input } } : {}
    const { id } = await this.#host.command(api => api.replayRun({ id: this.id, ...body }))
    return new TestRun(this.#host, { id, workflow: this.workflow })
  }

  /** Starts a new run that keeps the results before the step and continues from it. Only for a run that has ended. */
  async retryFromStep(stepName: string): Promise<TestRun<Output>> {
    const from = { id: this.id, body: { step: stepName } }
    const { id } = await this.#host.command(api => api.retryRunFromStep(from))
    return new TestRun(this.#host, { id, workflow: this.workflow })
  }

  /** Moves the virtual time until the run has ended or `enough` returns true, at most for `within`. */
  #move(options: WithinOptions, enough: () => Promise<boolean>): Promise<void> {
    return this.#advance(options, async () => ENDED.includes((await this.read()).status) || enough())
  }

  /** Moves the virtual time until `isOver` returns true, at most for `within`. */
  async #advance(options: WithinOptions, isOver: () => Promise<boolean>): Promise<void> {
    refuseUnknownOptions('The read of a run', options, { within: true })
    const ms = durationMs(options.within ?? 0)
    if (ms > 0) await this.#host.advanceTo(this.#host.clock.now() + ms, isOver)
  }

  async #describe(what: string, run: Run): Promise<string> {
    const steps = (await this.steps()).map(({ name, status }) => `${name} (${status})`)
    const listed = steps.length === 0 ? 'It has no steps yet.' : `Its steps: ${steps.join(', ')}.`
    const sentence = ENDED.includes(run.status) ? endOf(run) : await this.why()
    return `Run ${this.id} of "${this.workflow}" ${what}. ${sentence} ${listed}`
  }
}

/** Returns the run with this id. Rejects if there is none. */
export async function openRun(host: Host, id: string): Promise<TestRun> {
  const { workflow } = await host.api.getRun({ id })
  return new TestRun(host, { id, workflow })
}

/** Returns a duration in milliseconds. Throws a TypeError when it is not a duration. */
export function durationMs(duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms === undefined) throw new TypeError(`Not a duration: ${String(duration)} (${DURATION_FORMS})`)
  return ms
}

function endOf({ status, error }: Run): string {
  return error
    ? `It has ${status}: ${error.message.replace(/\.$/, '')}.`
    : `It has ${status === 'cancelled' ? 'been cancelled' : status}.`
}
