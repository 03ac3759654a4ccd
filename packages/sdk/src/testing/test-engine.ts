// `testEngine()`: the real engine in the test's own process, with workflows to run on it and time that the test
// moves.

import type { Client } from '@perdure/client'
import type { EventRecord, RunStatus, SendEventReply } from '@perdure/protocol'
import { type EventDefinition, eventNameOf, type SentOf } from '../schema/event.ts'
import type { Duration } from '../step-tools.ts'
import type { Workflow } from '../workflow.ts'
import { injectedClient } from './api.ts'
import { TestingError } from './errors.ts'
import { Host } from './host.ts'
import { type AnyWorkflow, handlersOf, isList, readOptions, type TestEngineOptions } from './options.ts'
import { loadPackages } from './packages.ts'
import { isInsideWorkflow } from './pass-under-way.ts'
import type { MockCallback, MockOptions, StepHold, StepMock } from './steps.ts'
import { type Bench, durationMs, openRun, settle, TestRun } from './test-run.ts'
import { notStarted, triggerOf } from './trigger.ts'
import { type SentWebhook, type WebhookAnswers, WebhookRecorder } from './webhooks.ts'

export interface StartOptions {
  /** The event to start it with. Default: the first event that its triggers name exactly. */
  event?: string
}

export interface SendEventOptions {
  app?: string
  dedupeId?: string
  targetApp?: string
}

/** What became of an event. */
export interface SentEvent extends SendEventReply {
  /** The runs it started. */
  runs: TestRun[]
}

export interface StopOptions {
  /** Runs that have not ended are no failure of the test. */
  leaveRuns?: boolean
}

/** Data, which may be left out when it may be undefined, and options. */
type DataArguments<Data, Options> = undefined extends Data
  ? [data?: Data, options?: Options]
  : [data: Data, options?: Options]

const LIVE = ['queued', 'running', 'paused'] as const

/**
 * Starts an engine with these workflows, in this process: no port, no file, no real timer. Rejects when the engine
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
  const options = isList(workflows) ? { workflows } : workflows
  const host = new Host(await loadPackages(), readOptions(options))
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
 * An engine under test. Its time stands still but for {@link advance}, and one millisecond between two commands, so
 * that each has its own. Commands and reads resolve when the engine has come to rest: all that can happen at the
 * present virtual time has happened. Called by code of a workflow, they resolve at once.
 */
export class TestEngine implements AsyncDisposable {
  /** The engine's whole interface, typed. It answers what is, without waiting for the engine to come to rest. */
  readonly api: Client
  readonly #host: Host
  readonly #bench: Bench
  readonly #webhooks: WebhookRecorder

  /** @internal Use {@link testEngine}. */
  constructor(host: Host, webhooks: WebhookRecorder) {
    this.#host = host
    this.#webhooks = webhooks
    const api = injectedClient(host)
    this.api = api
    this.#bench = {
      host,
      get api() {
        host.assertUp()
        return api
      },
    }
  }

  /** Whether the engine runs: not after {@link crash}, until {@link restart}. */
  get isUp(): boolean {
    return this.#host.isUp
  }

  /** Virtual time. */
  now(): Date {
    return new Date(this.#host.clock.now())
  }

  /** Starts a run of a workflow, by the event that triggers it. Rejects when the event starts none. */
  async start<Output, Sent>(
    workflow: Workflow<never, Output, Sent>,
    ...[data, options = {}]: DataArguments<NoInfer<Sent>, StartOptions>
  ): Promise<TestRun<Output>> {
    const event = options.event ?? triggerOf(workflow)
    const { triggered = [] } = await this.#send(event, data, {})
    const own = triggered.find(entry => entry.workflow === workflow.name)
    if (own?.runId === undefined) throw new TestingError(notStarted(workflow.name, event, own))
    await settle(this.#bench)
    return new TestRun(this.#bench, { id: own.runId, workflow: workflow.name })
  }

  /** Sends an event: a typed one, or any by its name. */
  send<Event extends EventDefinition>(
    event: Event,
    ...rest: DataArguments<SentOf<Event>, SendEventOptions>
  ): Promise<SentEvent>
  send(name: string, data?: unknown, options?: SendEventOptions): Promise<SentEvent>
  async send(
    event: string | EventDefinition,
    data?: unknown,
    options: SendEventOptions = {},
  ): Promise<SentEvent> {
    const name = eventNameOf(event)
    const reply = await this.#send(name, data, options)
    const started = (reply.triggered ?? []).flatMap(({ runId, workflow }) =>
      runId === undefined ? [] : new TestRun(this.#bench, { id: runId, workflow }),
    )
    await settle(this.#bench)
    return { ...reply, runs: started }
  }

  /** Moves virtual time on. Whatever falls due on the way happens, in order, each thing at its own time. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(this.#host.clock.now() + durationMs(duration))
  }

  /** Moves virtual time on to a time. */
  async advanceTo(time: Date | number | string): Promise<void> {
    const ms = typeof time === 'number' ? time : new Date(time).getTime()
    if (Number.isNaN(ms)) throw new TypeError(`Not a time: ${String(time)}`)
    if (isInsideWorkflow()) throw new TestingError('Code of a workflow cannot move the time it runs in')
    if (ms < this.#host.clock.now())
      throw new TestingError(`It is ${this.now().toISOString()}: time does not run backwards`)
    await this.#host.advanceTo(ms)
  }

  /** Resolves when all that can happen at the present virtual time has happened. */
  async settled(): Promise<void> {
    await settle(this.#bench)
  }

  /** The runs so far, oldest first. */
  async runs(filter: { workflow?: { name: string } | string; status?: RunStatus } = {}): Promise<TestRun[]> {
    await settle(this.#bench)
    const name = typeof filter.workflow === 'object' ? filter.workflow.name : filter.workflow
    const found: TestRun[] = []
    for await (const run of this.#bench.api.pages.listRuns({ dir: 'asc', limit: 200 })) {
      if (name !== undefined && run.workflow !== name) continue
      if (filter.status !== undefined && run.status !== filter.status) continue
      found.push(new TestRun(this.#bench, run))
    }
    return found
  }

  /** The run with that id. */
  async run(id: string): Promise<TestRun> {
    return openRun(this.#bench, id)
  }

  /** The events so far, sent and emitted, oldest first. */
  async events(filter: { name?: string } = {}): Promise<EventRecord[]> {
    await settle(this.#bench)
    const found: EventRecord[] = []
    for await (const event of this.#bench.api.pages.listEvents({ ...filter, limit: 1000 })) found.push(event)
    return found.reverse()
  }

  /** Every webhook that was posted so far, oldest first: one entry for each attempt. */
  async deliveries(): Promise<readonly SentWebhook[]> {
    await settle(this.#bench)
    return [...this.#webhooks.sent]
  }

  /** From now on webhooks to that URL are answered so: always, or one after the other. */
  answerWebhooks(url: string, answers: WebhookAnswers): void {
    this.#webhooks.answer(url, answers)
  }

  /** From now on that runs in place of the callback of the step of that name, until it is restored. */
  mock(stepName: string, callback: MockCallback, options?: MockOptions): StepMock {
    return this.#host.steps.mock(stepName, callback, options)
  }

  /**
   * Holds the callback of the step of that name back until it is released: a moment in the middle of a pass, in which
   * the test can act. Held callbacks count as being at rest.
   */
  hold(stepName: string, options?: MockOptions): StepHold {
    return this.#host.steps.hold(stepName, options)
  }

  /** The engine dies at once, as by `kill -9`: what it has not stored is lost, passes under way are cut off. */
  crash(): void {
    this.#host.crash()
  }

  /** Starts another engine on what the last one stored; one that still runs crashes before. */
  async restart(): Promise<void> {
    if (isInsideWorkflow()) throw new TestingError('Code of a workflow can crash the engine, not restart it')
    this.#host.crash()
    await this.#host.start([], this.#webhooks)
  }

  /**
   * Ends the test. Rejects with a {@link TestingError} that lists the runs which have not ended, unless told to leave
   * them, and the errors the engine has logged. The engine is gone either way.
   */
  async stop({ leaveRuns = false }: StopOptions = {}): Promise<void> {
    const problems: string[] = []
    try {
      if (this.#host.isUp) {
        await settle(this.#bench)
        if (!leaveRuns) problems.push(...(await this.#leaks()))
      }
    } finally {
      await this.#host.stop()
    }
    const { errors } = this.#host
    if (errors.length > 0) problems.push(`The engine has logged errors:\n  ${errors.join('\n  ')}`)
    if (problems.length > 0) throw new TestingError(problems.join('\n'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #send(name: string, data: unknown, { app, dedupeId, targetApp }: SendEventOptions) {
    const body = {
      name,
      ...(data === undefined ? {} : { data }),
      ...(app === undefined ? {} : { app }),
      ...(dedupeId === undefined ? {} : { dedupeId }),
      ...(targetApp === undefined ? {} : { targetApp }),
    }
    this.#host.tick()
    return this.#bench.api.sendEvent({ body })
  }

  async #leaks(): Promise<string[]> {
    const lines: string[] = []
    for (const status of LIVE) {
      for await (const { id, workflow } of this.#bench.api.pages.listRuns({
        status,
        dir: 'asc',
        limit: 200,
      })) {
        lines.push(`\n  ${id} of "${workflow}": ${(await this.#bench.api.explainRun({ id })).sentence}`)
      }
    }
    if (lines.length === 0) return []
    const count = lines.length === 1 ? '1 run has' : `${lines.length} runs have`
    return [`${count} not ended (stop({ leaveRuns: true }) leaves them):${lines.join('')}`]
  }
}
