// Watches the step callbacks of the workflows under test: counts them, knows which are running, and puts mocks in
// their place. It stands between the handler and its `step`, so the SDK itself does not know of it.

import type { StepContext, StepRunOptions, StepTools, WorkflowArgs } from '../step-tools.ts'
import type { Workflow } from '../workflow.ts'
import { currentPass, type PassUnderWay } from './pass-under-way.ts'
import { realNow } from './real-time.ts'

/** One execution of a step's callback, as a mock sees it. */
export interface MockCall {
  readonly runId: string
  readonly workflow: string
  /** As given to `step.run`. */
  readonly stepName: string
  /** Counts the executions of this step in this run, from 1: repeated attempts, and executions after a crash. */
  readonly execution: number
  /** What the callback would have been given. */
  readonly context: StepContext
  /** Runs the callback that the mock stands for. */
  original(): unknown
}

/** What takes the place of a step's callback: it returns the step's result, or throws. */
export type MockCallback = (call: MockCall) => unknown

export interface MockOptions {
  /** Only steps of this workflow, or of the one of that name. */
  workflow?: { readonly name: string } | string
}

/** A mock that is in force. */
export interface StepMock {
  /** The calls so far, oldest first. */
  readonly calls: readonly MockCall[]
  /** Puts the real callback back. */
  restore(): void
}

/** Callbacks of a step that the test holds back. */
export interface StepHold {
  /** Resolves when the first of them would have run. */
  readonly reached: Promise<void>
  /** Lets them go on, those that come later too. */
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
  stepName: string
  /** With `:n` from the second use of a name on. */
  position: string
  since: number
}

export class StepWatch {
  readonly #executions: Execution[] = []
  readonly #running = new Set<Execution>()
  readonly #mocks: Mock[] = []
  readonly #holds: Hold[] = []
  readonly #onProgress: () => void

  /** @param onProgress called whenever a callback has begun or ended */
  constructor(onProgress: () => void) {
    this.#onProgress = onProgress
  }

  /** The workflow with its step callbacks watched. */
  watch<W extends Workflow<never, unknown>>(workflow: W): W {
    const { onFailure } = workflow
    return {
      ...workflow,
      handler: (args: WorkflowArgs<never>) => workflow.handler(this.#watched(args)),
      ...(onFailure && {
        onFailure: (args: Parameters<typeof onFailure>[0]) => workflow.onFailure?.(this.#watched(args)),
      }),
    }
  }

  mock(stepName: string, callback: MockCallback, options: MockOptions = {}): StepMock {
    const mock: Mock = { ...patternOf(stepName, options), callback, calls: [] }
    this.#mocks.push(mock)
    return { calls: mock.calls, restore: () => remove(this.#mocks, mock) }
  }

  hold(stepName: string, options: MockOptions = {}): StepHold {
    let onReached = () => {}
    const reached = new Promise<void>(resolve => {
      onReached = resolve
    })
    let onReleased = () => {}
    const released = new Promise<void>(resolve => {
      onReleased = resolve
    })
    const hold: Hold = { ...patternOf(stepName, options), onReached, released }
    this.#holds.push(hold)
    const release = () => {
      remove(this.#holds, hold)
      onReleased()
    }
    return { reached, release }
  }

  /** How often callbacks of that step ran in the run: of all uses of a name, or of the one named `name:n`. */
  count(runId: string, step: string): number {
    return this.#executions.filter(
      one => one.runId === runId && (one.stepName === step || one.position === step),
    ).length
  }

  /** Callbacks that are running, in words. */
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
      const watched = (context: StepContext) =>
        this.#execute({ runId, workflow, stepName: name, position, since: realNow() }, context, callback)
      return args.step.run(name, typeof callback === 'function' ? watched : callback, options)
    }
    return { ...args, step: { ...args.step, run: run as StepTools['run'] } }
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
      const call = this.#callOf(execution, context, callback)
      mock.calls.push(call)
      return await mock.callback(call)
    } finally {
      this.#ended(execution, pass)
    }
  }

  /** Until the hold is released, or the callback is of no use any more. */
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

  #callOf(
    { runId, workflow, stepName, position }: Execution,
    context: StepContext,
    callback: (context: StepContext) => unknown,
  ): MockCall {
    const earlier = this.#executions.filter(one => one.runId === runId && one.position === position)
    const original = () => callback(context)
    return { runId, workflow, stepName, context, execution: earlier.length, original }
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

/** Tells the uses of one name in a pass apart, as the engine's step records do. */
function positions(): (name: string) => string {
  const uses = new Map<string, number>()
  return name => {
    const use = uses.get(name) ?? 0
    uses.set(name, use + 1)
    return use === 0 ? name : `${name}:${use}`
  }
}
