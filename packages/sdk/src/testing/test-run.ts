// A run as a test sees it. Every read first lets the engine finish what it can at the present virtual time.

import type { Client } from '@perdure/client'
import {
  DURATION_FORMS,
  hashStepId,
  parseDurationMs,
  type Run,
  type RunLogLine,
  type RunStatus,
  type StepRecord,
} from '@perdure/protocol'
import type { Json } from '../json.ts'
import type { Duration } from '../step-tools.ts'
import { RunFailedError, TestingError } from './errors.ts'
import type { Host } from './host.ts'
import { isInsideWorkflow } from './pass-under-way.ts'

export interface WithinOptions {
  /** Moves virtual time on for as long as it takes, this long at most. Default 0: time stands still. */
  within?: Duration
}

/** What the runs and the engine of a test share. */
export interface Bench {
  readonly host: Host
  /** Throws when no engine runs. */
  readonly api: Client
}

/** Log lines and steps of a run are read to the end in pages of this size. */
const PAGE = 1000
const PARKED: readonly string[] = ['waiting', 'retrying']
const ENDED: readonly RunStatus[] = ['succeeded', 'failed', 'cancelled']

/** Lets the engine finish what it can now; not for code of a workflow, which is part of what is waited for. */
export async function settle({ host }: Bench): Promise<void> {
  if (!isInsideWorkflow()) await host.stillness.reached()
}

/** A run on the engine under test. */
export class TestRun<Output = unknown> {
  readonly id: string
  /** Name of its workflow. */
  readonly workflow: string
  readonly #bench: Bench

  /** @internal Use `engine.start()`, `send()` or `runs()`. */
  constructor(bench: Bench, { id, workflow }: { id: string; workflow: string }) {
    this.#bench = bench
    this.id = id
    this.workflow = workflow
  }

  /** All the engine tells of the run. */
  async read(): Promise<Run> {
    await settle(this.#bench)
    return this.#bench.api.getRun({ id: this.id })
  }

  async status(): Promise<RunStatus> {
    return (await this.read()).status
  }

  /** Where the run stands and why, in a sentence. */
  async why(): Promise<string> {
    await settle(this.#bench)
    return (await this.#bench.api.explainRun({ id: this.id })).sentence
  }

  /**
   * The workflow's result. Rejects with a {@link RunFailedError} when the run failed or was cancelled, and with a
   * {@link TestingError} that says where it is when it has not ended, within the time given.
   */
  async result(options: WithinOptions = {}): Promise<Json<Output>> {
    await this.#move(options, async () => false)
    const run = await this.read()
    if (run.status === 'succeeded') return run.result as Json<Output>
    if (run.status === 'failed' || run.status === 'cancelled') throw new RunFailedError(run)
    throw new TestingError(await this.#told('has not ended', run))
  }

  /** The error the run failed with. Rejects when it did not fail, as {@link result} does when it did. */
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
   * Resolves, with its record, when the run is parked at the step of that name: a sleep, a wait, a child, or a
   * retry. Rejects with a {@link TestingError} that says where it is instead when it is not, and cannot come there
   * by itself within the time given.
   */
  async parkedAt(stepName: string, options: WithinOptions = {}): Promise<StepRecord> {
    const parked = async () => (await this.steps()).find(step => isCalled(step, stepName) && isParked(step))
    await this.#move(options, async () => (await parked()) !== undefined)
    const run = await this.read()
    const step = ENDED.includes(run.status) ? undefined : await parked()
    if (step) return step
    throw new TestingError(await this.#told(`is not parked at "${stepName}"`, run))
  }

  /** The steps so far, in the order of their execution. */
  async steps(): Promise<StepRecord[]> {
    await settle(this.#bench)
    return this.#bench.api.listRunSteps({ id: this.id })
  }

  /** The step of that name (`name:n` from the second use of a name on), if the run has come to it. */
  async step(stepName: string): Promise<StepRecord | undefined> {
    const id = hashStepId(stepName)
    return (await this.steps()).find(step => step.id === id)
  }

  /** Every log line so far, oldest first. */
  async logs(): Promise<RunLogLine[]> {
    await settle(this.#bench)
    const lines: RunLogLine[] = []
    for (let from = 0; ; from = lines.at(-1)?.seq ?? from) {
      const page = await this.#bench.api.listRunLogs({ id: this.id, from, limit: PAGE })
      lines.push(...page)
      if (page.length < PAGE) return lines
    }
  }

  /**
   * How often the callback of that step has run: 1 for a step that went well at once, one more for each attempt
   * that failed and for each crash it met. A name stands for all of its uses, `name:n` for that one.
   */
  executions(stepName: string): number {
    return this.#bench.host.steps.count(this.id, stepName)
  }

  /** The runs it has started as children, in the order of its steps. */
  async children(): Promise<TestRun[]> {
    const started = (await this.steps()).flatMap(({ childRunId }) => childRunId ?? [])
    return Promise.all(started.map(id => openRun(this.#bench, id)))
  }

  async cancel(): Promise<void> {
    this.#bench.host.tick()
    await this.#bench.api.cancelRun({ id: this.id })
    await settle(this.#bench)
  }

  /** The step under way is finished and kept; the next one waits for {@link resume}. */
  async pause(): Promise<void> {
    this.#bench.host.tick()
    await this.#bench.api.pauseRun({ id: this.id })
    await settle(this.#bench)
  }

  async resume(): Promise<void> {
    this.#bench.host.tick()
    await this.#bench.api.resumeRun({ id: this.id })
    await settle(this.#bench)
  }

  /** A new run of the same input, or of another one: `replay({ input })`. Only of a run that has ended. */
  async replay(options: { input?: unknown } = {}): Promise<TestRun<Output>> {
    this.#bench.host.tick()
    const body = 'input' in options ? { body: { input: options.input } } : {}
    const { id } = await this.#bench.api.replayRun({ id: this.id, ...body })
    await settle(this.#bench)
    return new TestRun(this.#bench, { id, workflow: this.workflow })
  }

  /** A new run that keeps what came before the step and starts from it. Only of a run that has ended. */
  async retryFromStep(stepName: string): Promise<TestRun<Output>> {
    this.#bench.host.tick()
    const { id } = await this.#bench.api.retryRunFromStep({ id: this.id, body: { step: stepName } })
    await settle(this.#bench)
    return new TestRun(this.#bench, { id, workflow: this.workflow })
  }

  /** Moves time on until the run has ended or there is `enough`, as far as the options allow. */
  async #move({ within = 0 }: WithinOptions, enough: () => Promise<boolean>): Promise<void> {
    const ms = durationMs(within)
    if (ms === 0) return
    const { host } = this.#bench
    await host.advanceTo(
      host.clock.now() + ms,
      async () => ENDED.includes((await this.read()).status) || (await enough()),
    )
  }

  async #told(what: string, run: Run): Promise<string> {
    const steps = (await this.steps()).map(({ name, status }) => `${name} (${status})`)
    const listed = steps.length === 0 ? 'It has no steps yet.' : `Its steps: ${steps.join(', ')}.`
    const sentence = ENDED.includes(run.status) ? endOf(run) : await this.why()
    return `Run ${this.id} of "${this.workflow}" ${what}. ${sentence} ${listed}`
  }
}

/** The run with that id. */
export async function openRun(bench: Bench, id: string): Promise<TestRun> {
  const { workflow } = await bench.api.getRun({ id })
  return new TestRun(bench, { id, workflow })
}

/** A duration in milliseconds. Throws a TypeError when it is none. */
export function durationMs(duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms === undefined) throw new TypeError(`Not a duration: ${String(duration)} (${DURATION_FORMS})`)
  return ms
}

function endOf({ status, error }: Run): string {
  return error
    ? `It has ${status}: ${error.message}.`
    : `It has ${status === 'cancelled' ? 'been cancelled' : status}.`
}

/** A name stands for all of its uses, `name:n` for that one. */
function isCalled({ id, name }: StepRecord, stepName: string): boolean {
  return name === stepName || id === hashStepId(stepName)
}

function isParked({ status }: StepRecord): boolean {
  return PARKED.includes(status)
}
