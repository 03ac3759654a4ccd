// `testEngine()`: runs the real engine in the test's own process, with the test's workflows and a clock that the test
// moves.

import type { Client, DataArguments, Duration, EventDefinition, EventToSend, SentOf } from '@perdure/client'
import { eventNameOf, type OptionNames, refuseUnknownOptions } from '@perdure/client/internal'
import {
  ENGINE_EVENT_PREFIX,
  type EventRecord,
  type IfRunning,
  type RunStatus,
  type SendEventReply,
} from '@perdure/protocol'
import type { Workflow } from '../workflow/workflow.ts'
import { loadEngine } from './host/engine-package.ts'
import { TestingError } from './host/errors.ts'
import { Host } from './host/host.ts'
import { isInsideWorkflow } from './host/pass-under-way.ts'
import type { MockCallback, MockOptions, StepHold, StepMock } from './host/step-watch.ts'
import { type SentWebhook, type WebhookAnswers, WebhookRecorder } from './host/webhooks.ts'
import { type AnyWorkflow, handlersOf, readOptions, type TestEngineOptions } from './options.ts'
import { durationMs, ENDED, openRun, TestRun } from './test-run.ts'

/** Options of `TestEngine.start()`. */
export interface StartOptions {
  /** Name of the event that starts the run. Default: the first event that the workflow's triggers name exactly. */
  event?: string
  /** Starts the run directly, with this key: only one live run of the workflow can have the key. */
  key?: string
  /** How to start while a run with the `key` is live. Default: `use`. */
  ifRunning?: IfRunning
}

/** Options of `TestEngine.send()`: the fields of the event except name, data and runner. */
export type SendEventOptions = Omit<EventToSend, 'name' | 'data' | 'runner'>

const SEND_OPTIONS: OptionNames<SendEventOptions> = {
  app: true,
  dedupeId: true,
  targetApp: true,
  at: true,
  delay: true,
  attributes: true,
}

/** The engine's reply to an event. */
export interface SentEvent extends SendEventReply {
  /** The runs that the event started. */
  runs: TestRun[]
}

/** Options of `TestEngine.stop()`. */
export interface StopOptions {
  /** Do not reject when runs have not ended. Default false. */
  leaveRuns?: boolean
}

/**
 * Starts an engine with these workflows in this process, without ports, files or real timers. Rejects when the engine
 * refuses a workflow.
 *
 * ```ts
 * const engine = await testEngine([checkout])
 * const run = await engine.start(checkout, { order: 1 })
 * await engine.advance('1d')
 * await run.result()
 * await engine.stop()
 * ```
 */
export async function testEngine(workflows: readonly AnyWorkflow[] | TestEngineOptions): Promise<TestEngine> {
  const options: TestEngineOptions = Array.isArray(workflows) ? { workflows } : (workflows as TestEngineOptions)
  const host = new Host(await loadEngine(), readOptions(options))
  const webhooks = new WebhookRecorder(() => host.clock.now(), options.webhooks)
  try {
    await host.start(handlersOf(options, host.steps), webhooks)
  } catch (error) {
    await host.stop()
    throw error
  }
  return new TestEngine(host, webhooks)
}

/**
 * An engine under test. Its virtual time stands still, except for {@link advance} and for one millisecond between two
 * commands, which gives each command its own time. Commands and reads resolve when the engine is idle: everything that
 * can happen at the current virtual time has happened. If code of a workflow calls them, they resolve at once.
 */
export class TestEngine implements AsyncDisposable {
  /** Typed client of the engine's whole HTTP interface. It does not wait until the engine is idle. */
  readonly api: Client
  readonly #host: Host
  readonly #webhooks: WebhookRecorder

  /** @internal Use {@link testEngine}. */
  constructor(host: Host, webhooks: WebhookRecorder) {
    this.#host = host
    this.#webhooks = webhooks
    this.api = host.client
  }

  /** Whether the engine runs. False from {@link crash} until {@link restart}. */
  get isUp(): boolean {
    return this.#host.isUp
  }

  /** The current virtual time. */
  now(): Date {
    return new Date(this.#host.clock.now())
  }

  /**
   * Starts a run of a workflow with the event that triggers it. Starts it directly if it has no such event (a workflow with
   * schedules or without triggers), or only an event that the engine sends. Rejects if the event starts no run of the workflow.
   */
  async start<Output, Sent>(
    workflow: Workflow<never, Output, Sent>,
    ...[data, options = {}]: DataArguments<NoInfer<Sent>, StartOptions>
  ): Promise<TestRun<Output>> {
    refuseUnknownOptions('start', options, { event: true, key: true, ifRunning: true })
    const { event: named, ...byKey } = options
    const isDirect = byKey.key !== undefined || byKey.ifRunning !== undefined
    if (isDirect && named !== undefined) throw new TestingError('A run with a key is started directly: give no event')
    const event = isDirect ? undefined : (named ?? triggerOf(workflow))
    if (event === undefined) return this.#startDirectly<Output>(workflow.name, data, byKey)
    const { triggered = [] } = await this.#send(event, data, {})
    const own = triggered.find(entry => entry.workflow === workflow.name)
    if (own?.runId === undefined) throw new TestingError(notStarted(workflow.name, event, own))
    return new TestRun(this.#host, { id: own.runId, workflow: workflow.name })
  }

  /** Sends an event, given by its definition or by its name. */
  send<Event extends EventDefinition>(
    event: Event,
    ...rest: DataArguments<SentOf<Event>, SendEventOptions>
  ): Promise<SentEvent>
  send(name: string, data?: unknown, options?: SendEventOptions): Promise<SentEvent>
  async send(event: string | EventDefinition, data?: unknown, options: SendEventOptions = {}): Promise<SentEvent> {
    refuseUnknownOptions('send', options, SEND_OPTIONS)
    const name = eventNameOf(event)
    const reply = await this.#send(name, data, options)
    const started = (reply.triggered ?? []).flatMap(({ runId, workflow }) =>
      runId === undefined ? [] : new TestRun(this.#host, { id: runId, workflow }),
    )
    return { ...reply, runs: started }
  }

  /** Moves the virtual time forward. Everything that becomes due in between happens in order, each at its own time. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(this.#host.clock.now() + durationMs(duration))
  }

  /** Moves the virtual time forward to a time. Rejects if that is in the past. */
  async advanceTo(time: Date | number | string): Promise<void> {
    const ms = typeof time === 'number' ? time : new Date(time).getTime()
    if (Number.isNaN(ms)) throw new TypeError(`Not a time: ${String(time)}`)
    if (isInsideWorkflow()) throw new TestingError('The code of a workflow cannot advance the time of its engine')
    if (ms < this.#host.clock.now())
      throw new TestingError(`It is ${this.now().toISOString()}: time does not run backwards`)
    await this.#host.advanceTo(ms)
  }

  /** Resolves when everything that can happen at the current virtual time has happened. */
  async settled(): Promise<void> {
    await this.#host.settled()
  }

  /** Returns the runs so far, oldest first. */
  async runs(filter: { workflow?: { name: string } | string; status?: RunStatus } = {}): Promise<TestRun[]> {
    refuseUnknownOptions('runs', filter, { workflow: true, status: true })
    await this.#host.settled()
    const name = typeof filter.workflow === 'object' ? filter.workflow.name : filter.workflow
    if (name !== undefined) this.#host.steps.names.checkWorkflow('runs', name)
    const found: TestRun[] = []
    for await (const run of this.#host.api.pages.listRuns({ dir: 'asc', limit: 200 })) {
      if (name !== undefined && run.workflow !== name) continue
      if (filter.status !== undefined && run.status !== filter.status) continue
      found.push(new TestRun(this.#host, run))
    }
    return found
  }

  /** Returns the run with this id. Rejects if there is none. */
  async run(id: string): Promise<TestRun> {
    return openRun(this.#host, id)
  }

  /** Returns the events so far, sent and emitted, oldest first. */
  async events(filter: { name?: string } = {}): Promise<EventRecord[]> {
    await this.#host.settled()
    const found: EventRecord[] = []
    for await (const event of this.#host.api.pages.listEvents({ ...filter, limit: 1000 })) found.push(event)
    return found.reverse()
  }

  /** Returns the webhooks posted so far, oldest first, one entry per attempt. */
  async deliveries(): Promise<readonly SentWebhook[]> {
    await this.#host.settled()
    return [...this.#webhooks.sent]
  }

  /** Sets the answers to webhooks to this URL: one for all, or several in order. The last one repeats. */
  answerWebhooks(url: string, answers: WebhookAnswers): void {
    this.#webhooks.answer(url, answers)
  }

  /** Replaces the callback of the steps with this name until the mock is restored. */
  mock(stepName: string, callback: MockCallback, options?: MockOptions): StepMock {
    return this.#host.steps.mock(stepName, callback, options)
  }

  /**
   * Holds back the callbacks of the steps with this name until the hold is released, so that the test can act in the
   * middle of a pass. Held callbacks count as idle.
   */
  hold(stepName: string, options?: MockOptions): StepHold {
    return this.#host.steps.hold(stepName, options)
  }

  /** Crashes the engine like `kill -9`: everything it has not stored is lost, and the passes in flight are cancelled. */
  crash(): void {
    this.#host.crash()
  }

  /** Starts another engine on the same store. If the engine still runs, it crashes first. */
  async restart(): Promise<void> {
    if (isInsideWorkflow()) throw new TestingError('The code of a workflow can crash the engine but not restart it')
    this.#host.crash()
    await this.#host.start([], this.#webhooks)
  }

  /**
   * Stops the engine. Rejects with a {@link TestingError} that lists the errors that the engine has logged, step names that the
   * test gave but no workflow has, and, without `leaveRuns`, the runs that have not ended. The engine is stopped in every case.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    refuseUnknownOptions('stop', options, { leaveRuns: true })
    const { leaveRuns = false } = options
    const problems: string[] = []
    try {
      if (this.#host.isUp) {
        await this.#host.settled()
        if (!leaveRuns) problems.push(...(await this.#leaks()))
      }
      problems.push(...this.#host.steps.names.problems())
    } finally {
      await this.#host.stop()
    }
    const { errors } = this.#host
    if (errors.length > 0) problems.push(`The engine has logged errors:\n  ${errors.join('\n  ')}`)
    if (problems.length > 0) throw new TestingError(problems.join('\n'))
  }

  /**
   * Stops the engine at the end of an `await using`. An error that {@link stop} would reject with becomes an unhandled rejection,
   * which fails the test run too. If this method rejected, its error would replace the error of a failed test, and a failed test
   * usually leaves runs.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(error => void Promise.reject(error))
  }

  async #startDirectly<Output>(
    name: string,
    input: unknown,
    byKey: Omit<StartOptions, 'event'>,
  ): Promise<TestRun<Output>> {
    const app = (await this.#host.api.listWorkflows()).find(one => one.name === name)?.app
    if (app === undefined) throw new TestingError(`The engine has no workflow "${name}"`)
    const { id } = await this.#host.command(api => api.startRun({ app, name, body: { input, ...byKey } }))
    return new TestRun(this.#host, { id, workflow: name })
  }

  #send(name: string, data: unknown, { at, ...fields }: SendEventOptions) {
    const time = at === undefined ? {} : { at: new Date(at).toISOString() }
    return this.#host.command(api => api.sendEvent({ body: { name, data, ...fields, ...time } }))
  }

  async #leaks(): Promise<string[]> {
    const lines: string[] = []
    for await (const { id, workflow, status } of this.#host.api.pages.listRuns({ dir: 'asc', limit: 200 })) {
      if (ENDED.includes(status)) continue
      lines.push(`\n  ${id} of "${workflow}": ${(await this.#host.api.explainRun({ id })).sentence}`)
    }
    if (lines.length === 0) return []
    const count = lines.length === 1 ? '1 run has' : `${lines.length} runs have`
    return [`${count} not ended (stop({ leaveRuns: true }) leaves them):${lines.join('')}`]
  }
}

/**
 * Returns the event that starts a workflow: the first one that its triggers name exactly, or its name if it has no list of
 * triggers; undefined if no event starts it, or only events that the engine sends.
 */
function triggerOf({ name, registration: { triggers } }: Workflow<never, unknown>): string | undefined {
  if (!triggers) return name
  const events = triggers.flatMap(({ event }) => event ?? []).filter(event => !event.startsWith(ENGINE_EVENT_PREFIX))
  const exact = events.find(event => !event.endsWith('*'))
  if (exact !== undefined || events.length === 0) return exact
  throw new TestingError(
    `No trigger of workflow "${name}" names an event without a wildcard: start it with {event: '...'}`,
  )
}

/** Explains why an event started no run, from the workflow's entry in the engine's reply. */
function notStarted(workflow: string, event: string, entry: object | undefined): string {
  const { workflow: _, app: __, ...flags } = (entry ?? {}) as Record<string, unknown>
  const outcome = Object.keys(flags).join(', ')
  return `Event "${event}" started no run of "${workflow}": ${
    entry ? `it was ${outcome}` : 'no trigger of it matches'
  }. Send it with send() instead`
}
