// A tiny engine in memory for unit tests: it invokes a handler pass by pass and stores the opcodes. The memo is a plain
// object whose keys are in the order in which steps settled.

import {
  type CleanupContext,
  type FollowedStep,
  hashStepId,
  type InvokeContext,
  type InvokeRequest,
  type MemoEntry,
  type Opcode,
  type RunnerLogLine,
  type StepError,
} from '@perdure/protocol'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'

interface PassRecord {
  status: number
  data?: unknown
  error?: StepError
  opcodes: Opcode[]
  logs: RunnerLogLine[]
}

/** Returns the memo entry of an opcode; undefined leaves its step parked. */
export type Settle = (opcode: Opcode) => MemoEntry | undefined

export interface TestRunOptions {
  data?: unknown
  ctx?: Partial<InvokeContext>
  settle?: Settle
  /** Most attempts of each step. */
  maxAttempts?: number
}

/** Members of every invoke, for callbacks. */
export const CALLBACKS = { callbackUrl: 'https://engine.test/callbacks/run.', callbackKey: 'key of the run' }

export class TestRun {
  memo: InvokeRequest['steps'] = {}
  readonly passes: PassRecord[] = []
  readonly #options: TestRunOptions
  readonly #workflow: Workflow<never, unknown>
  readonly #attempts = new Map<string, number>()
  readonly #opcodes = new Map<string, Opcode>()

  constructor(workflow: Workflow<never, unknown>, options: TestRunOptions = {}) {
    this.#workflow = workflow
    this.#options = options
  }

  get last(): PassRecord {
    return this.passes.at(-1) as PassRecord
  }

  /** Names of the opcodes of every pass. */
  get discovered(): string[][] {
    return this.passes.map(({ opcodes }) => opcodes.map(({ name }) => name))
  }

  /** Sends one invoke. Its opcodes are not stored. */
  async pass(): Promise<PassRecord> {
    const { data, ctx } = this.#options
    const request: InvokeRequest = {
      event: { id: 'evt_1', name: 'test', data },
      steps: this.memo,
      ctx: {
        runId: 'run_1',
        workflow: this.#workflow.name,
        attempt: 1,
        app: 'tests',
        runner: '',
        ...CALLBACKS,
        ...ctx,
      },
    }
    const handler = createHandler({ app: 'tests', workflows: [this.#workflow], signingKey: [], log: () => undefined })
    const response = await handler.handle({
      headers: { 'content-type': 'application/json' },
      rawBody: JSON.stringify(request),
    })
    const record = { opcodes: [], ...JSON.parse(response.body), status: response.status } as PassRecord
    this.passes.push(record)
    return record
  }

  /** Runs passes until the run ends, all its steps are parked, or a bound is reached. */
  async drive(passesMax = 50): Promise<PassRecord> {
    for (let count = 0; count < passesMax; count++) {
      const record = await this.pass()
      if (record.status !== 206) return record
      let moved = false
      for (const opcode of record.opcodes) {
        const result = this.#store(opcode)
        if (result === 'failed') return record
        moved ||= result
      }
      if (!moved) return record
    }
    throw new Error(`The run did not end within ${passesMax} passes`)
  }

  /** Settles a parked step by its positional id. */
  settle(stepId: string, entry: MemoEntry): void {
    const key = hashStepId(stepId)
    delete this.memo[key]
    this.memo[key] = entry
  }

  /** The run in the form that a cleanup run gets. */
  followed(status: CleanupContext['status']): CleanupContext {
    const steps: Record<string, FollowedStep> = {}
    for (const [id, entry] of Object.entries(this.memo)) {
      const { op, name, rollback } = this.#opcodes.get(id) as Opcode & { rollback?: boolean }
      steps[id] = { ...entry, op, name, ...(rollback && { rollback }) }
    }
    return { runId: 'run_1', status, steps }
  }

  #store(opcode: Opcode): boolean | 'failed' {
    this.#opcodes.set(opcode.id, opcode)
    const entry = opcode.op === 'StepRun' ? this.#stepRun(opcode) : settleDefault(opcode, this.#options.settle)
    if (entry === 'failed') return 'failed'
    if (entry === 'retry') return true
    delete this.memo[opcode.id]
    this.memo[opcode.id] = entry ?? { pending: true }
    return entry !== undefined
  }

  #stepRun(opcode: Extract<Opcode, { op: 'StepRun' }>): MemoEntry | 'failed' | 'retry' {
    if (!opcode.error) return opcode.data === undefined ? {} : { data: opcode.data }
    const attempts = (this.#attempts.get(opcode.id) ?? 0) + 1
    this.#attempts.set(opcode.id, attempts)
    if (opcode.retriable !== false && attempts < (this.#options.maxAttempts ?? 3)) return 'retry'
    return opcode.catchable ? { error: opcode.error } : 'failed'
  }
}

/** A run of a workflow `flow` with this handler. */
export function runOf<R>(handler: (args: WorkflowArgs) => R | Promise<R>, options?: TestRunOptions): TestRun {
  return new TestRun(createWorkflow({ name: 'flow' }, handler), options)
}

const NEEDS_OUTSIDE: ReadonlySet<Opcode['op']> = new Set(['WaitForEvent', 'WaitForCallback', 'RunWorkflow'])

function settleDefault(opcode: Opcode, settle: Settle | undefined): MemoEntry | undefined {
  if (settle) return settle(opcode)
  return NEEDS_OUTSIDE.has(opcode.op) ? undefined : { data: null }
}

export { deferred as signal } from '../run/deferred.ts'
