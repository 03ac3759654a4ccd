// Watches the step callbacks of the workflows under test: counts executions, knows which callbacks are running, replaces
// them with mocks and holds them back. It wraps the `step` that the handler gets, so the rest of the SDK needs no hook.
// Used by the host.

import { type OptionNames, refuseUnknownOptions } from '@perdure/client/internal'
import { positionalStepId } from '@perdure/protocol'
import { rollbackNameOf } from '../../cleanup/followed-run.ts'
import { deferred } from '../../run/deferred.ts'
import type { StepContext } from '../../run/run-context.ts'
import type {
  Rollback,
  StepMapOptions,
  StepRunOptions,
  StepTools,
  Workflow,
  WorkflowArgs,
} from '../../workflow/workflow.ts'
import { NamesOfSteps } from './names-of-steps.ts'
import { currentPass, type PassUnderWay } from './pass-under-way.ts'
import { realNow } from './real-time.ts'

/** One execution of a mocked step. */
export interface MockCall {
  readonly runId: string
  readonly workflow: string
  /** The name passed to `step.run`. An item of `step.map` has its own name, such as `quote:3`. */
  readonly stepName: string
  /** Number of this execution of the step in this run, from 1. Retries and executions after a crash count too. */
  readonly execution: number
  /** The argument that the callback would have received. */
  readonly context: StepContext
  /** Runs the callback that the mock replaces. */
  original(): unknown
}

/** Replaces a step's callback: returns the step's result, or throws. */
export type MockCallback = (call: MockCall) => unknown

/** Selects the steps that are mocked or held. */
export interface MockOptions {
  /** Only steps of this workflow, given by itself or by its name. */
  workflow?: { readonly name: string } | string
  /** The test may end although no workflow called such a step. Default false. */
  optional?: boolean
}

const MOCK_OPTIONS: OptionNames<MockOptions> = { workflow: true, optional: true }

/** An active mock. */
export interface StepMock {
  /** The calls so far, oldest first. */
  readonly calls: readonly MockCall[]
  /** Ends the mock: the step runs its own callback again. */
  restore(): void
}

/** Callbacks of a step that the test holds back. */
export interface StepHold {
  /** Resolves when the first held callback would otherwise have run. */
  readonly reached: Promise<void>
  /** Runs the held callbacks, and holds back no further ones. */
  release(): void
}

interface Pattern {
  stepName: string
  workflow: string | undefined
}

interface Mock extends Pattern {
  callback: MockCallback
  calls: MockCall[]
}

interface Hold extends Pattern {
  onReached(): void
  released: Promise<void>
}

interface Execution {
  runId: string
  workflow: string
  /** The name in the code. All items of a `step.map` share it. */
  stepName: string
  /** The step's name, with `:n` from the second use of a name on. */
  position: string
  /** The name of an item of `step.map`. */
  itemName?: string
  since: number
}

type ItemCallback = (item: unknown, index: number, context: StepContext) => unknown
/** Matches the signature of `step.map` that has the simpler result. */
type MapOptions = StepMapOptions & { settle?: false }

export class StepWatch {
  readonly #executions: Execution[] = []
  readonly #running = new Set<Execution>()
  readonly #mocks: Mock[] = []
  readonly #holds: Hold[] = []
  readonly names = new NamesOfSteps()
  readonly #onProgress: () => void

  /** @param onProgress called whenever a callback has begun or ended */
  constructor(onProgress: () => void) {
    this.#onProgress = onProgress
  }

  /** Returns the workflow with its step callbacks watched. */
  watch<W extends Workflow<never, unknown>>(workflow: W): W {
    const { onFailure, onCancel } = workflow
    this.names.served(workflow)
    return {
      ...workflow,
      handler: (args: WorkflowArgs<never>) => workflow.handler(this.#watched(args)),
      ...(onFailure && {
        onFailure: (args: Parameters<typeof onFailure>[0]) => workflow.onFailure?.(this.#watched(args)),
      }),
      ...(onCancel && {
        onCancel: (args: Parameters<typeof onCancel>[0]) => workflow.onCancel?.(this.#watched(args)),
      }),
    }
  }

  mock(stepName: string, callback: MockCallback, options: MockOptions = {}): StepMock {
    this.#expect('mock', stepName, options)
    const mock: Mock = { ...patternOf(stepName, options), callback, calls: [] }
    this.#mocks.push(mock)
    return { calls: mock.calls, restore: () => remove(this.#mocks, mock) }
  }

  hold(stepName: string, options: MockOptions = {}): StepHold {
    const [reached, released] = [deferred(), deferred()]
    this.#expect('hold', stepName, options)
    const hold: Hold = {
      ...patternOf(stepName, options),
      onReached: reached.resolve,
      released: released.promise,
    }
    this.#holds.push(hold)
    const release = () => {
      remove(this.#holds, hold)
      released.resolve()
    }
    return { reached: reached.promise, release }
  }

  /** Returns how often the callbacks of a step ran in a run. A name counts all of its uses, `name:n` only that use. */
  count(runId: string, step: string): number {
    this.names.asked('executions', step)
    return this.#executions.filter(one => one.runId === runId && (one.stepName === step || one.position === step))
      .length
  }

  #expect(what: 'mock' | 'hold', stepName: string, options: MockOptions): void {
    refuseUnknownOptions(what, options, MOCK_OPTIONS)
    const { workflow } = patternOf(stepName, options)
    if (workflow !== undefined) this.names.checkWorkflow(`${what}("${stepName}")`, workflow)
    if (options.optional !== true) this.names.expected(what, stepName, workflow)
  }

  /** Describes the callbacks that are running. */
  underWay(): string[] {
    return [...this.#running].map(
      ({ stepName, runId, workflow, since }) =>
        `the callback of step "${stepName}" of ${runId} ("${workflow}"), for ${Math.round(realNow() - since)} ms`,
    )
  }

  #watched<Args extends WorkflowArgs<never>>(args: Args): Args {
    const { runId, workflow } = args.ctx
    const positionOf = positions()
    const run = (name: string, callback: (context: StepContext) => unknown, options?: StepRunOptions) => {
      const position = positionOf(name)
      this.names.called(name, workflow)
      const watched = (context: StepContext) =>
        this.#execute({ runId, workflow, stepName: name, position, since: realNow() }, context, callback)
      const called = options?.rollback
        ? { ...options, ...this.#watchedRollback(workflow, position, options.rollback) }
        : options
      return args.step.run(name, typeof callback === 'function' ? watched : callback, called)
    }
    const map = (name: string, items: readonly unknown[], callback: ItemCallback, options?: MapOptions) => {
      if (!Array.isArray(items) || typeof callback !== 'function') return args.step.map(name, items, callback, options)
      this.names.called(name, workflow)
      const places = items.map((_, index) => {
        const itemName = `${name}:${index}`
        return { runId, workflow, stepName: name, itemName, position: positionOf(itemName) }
      })
      const watched: ItemCallback = (item, index, context) => {
        const execution = { ...(places[index] as (typeof places)[number]), since: realNow() }
        return this.#execute(execution, context, inner => callback(item, index, inner))
      }
      return args.step.map(name, items, watched, options)
    }
    // Inherits everything that `step` inherits.
    const step: StepTools = Object.assign(Object.create(args.step), { run, map })
    return { ...args, step }
  }

  /** A different run executes a rollback, not the run of the step that it undoes. */
  #watchedRollback(workflow: string, undone: string, rollback: Rollback): { rollback: Rollback } {
    const name = rollbackNameOf(undone)
    this.names.called(name, workflow)
    return {
      rollback: (result, context) => {
        const runId = currentPass()?.runId ?? ''
        const execution = { runId, workflow, stepName: name, position: name, since: realNow() }
        return this.#execute(execution, context, inner => rollback(result, inner))
      },
    }
  }

  async #execute(
    execution: Execution,
    context: StepContext,
    callback: (context: StepContext) => unknown,
  ): Promise<unknown> {
    const pass = currentPass()
    this.#executions.push(execution)
    this.#began(execution, pass)
    try {
      const hold = this.#holds.findLast(one => fits(one, execution))
      if (hold) await this.#wait(hold, execution, { context, pass })
      const mock = this.#mocks.findLast(one => fits(one, execution))
      if (!mock) return await callback(context)
      const { runId, workflow, stepName, position, itemName = stepName } = execution
      const count = this.#executions.filter(one => one.runId === runId && one.position === position).length
      const original = () => callback(context)
      const call: MockCall = { runId, workflow, stepName: itemName, execution: count, context, original }
      mock.calls.push(call)
      return await mock.callback(call)
    } finally {
      this.#ended(execution, pass)
    }
  }

  /** Waits until the hold is released. Rejects when the pass is cancelled. */
  async #wait(
    { onReached, released }: Hold,
    execution: Execution,
    { context, pass }: { context: StepContext; pass: PassUnderWay | undefined },
  ): Promise<void> {
    const { signal } = context
    this.#ended(execution, pass)
    if (pass) pass.held++
    this.#onProgress()
    onReached()
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    try {
      await Promise.race([released, aborted])
    } finally {
      if (pass) pass.held--
      this.#began(execution, pass)
    }
  }

  #began(execution: Execution, pass: PassUnderWay | undefined): void {
    this.#running.add(execution)
    if (pass) pass.running++
    this.#onProgress()
  }

  #ended(execution: Execution, pass: PassUnderWay | undefined): void {
    this.#running.delete(execution)
    if (pass) pass.running--
    this.#onProgress()
  }
}

function patternOf(stepName: string, { workflow }: MockOptions): Pattern {
  return { stepName, workflow: typeof workflow === 'object' ? workflow.name : workflow }
}

function fits(pattern: Pattern, { stepName, position, workflow }: Execution): boolean {
  const isNamed = pattern.stepName === stepName || pattern.stepName === position
  return isNamed && (pattern.workflow === undefined || pattern.workflow === workflow)
}

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item)
  if (index >= 0) list.splice(index, 1)
}

/** Numbers the uses of each name in a pass, as the engine's step records do. */
function positions(): (name: string) => string {
  const uses = new Map<string, number>()
  return name => {
    const use = uses.get(name) ?? 0
    uses.set(name, use + 1)
    return positionalStepId(name, use)
  }
}
