// Builds handlers from steps: `flow([run('a', ...), [run('b', ...), sleep('c', 10)]], result)` runs `a`, then `b` and
// `c` in parallel, then returns. Follows docs/wire-protocol.md#the-memo: settled entries are results, pending entries
// are left alone, all other steps are executed or discovered.

import type { Handler } from './plain-runner.ts'
import type { Invoke, RunnerRecord } from './runner-record.ts'
import { discovered, type MemoEntry, type Opcode, opcode, returned, type StepError, stepId } from './wire.ts'

export interface Step {
  name: string
  /** Returns the fields of the opcode. The flow adds id and name. */
  make(invoke: Invoke, results: Results): Record<string, unknown> | Promise<Record<string, unknown>>
}

/** The results by step name (with `:n` for repeated names): the data of the step, or `{error}`. */
export type Results = Record<string, unknown>

export interface StepFailureOptions {
  retriable?: boolean
  retryAfterMs?: number
}

/** An error of a step body that controls the retry of the step. */
export class StepFailure extends Error {
  readonly options: StepFailureOptions

  constructor(message: string, options: StepFailureOptions = {}) {
    super(message)
    this.options = options
  }
}

type Body = (invoke: Invoke, results: Results) => unknown

/** A StepRun: executes `body` and reports its result. */
export function run(
  name: string,
  body: Body = () => name,
  options: { catchable?: boolean; rollback?: true } = {},
): Step {
  return {
    name,
    async make(invoke, results) {
      try {
        return { op: 'StepRun', data: await body(invoke, results), ...options }
      } catch (thrown) {
        const error: StepError = { message: (thrown as Error).message, name: (thrown as Error).name }
        return { op: 'StepRun', error, ...options, ...(thrown instanceof StepFailure ? thrown.options : {}) }
      }
    },
  }
}

/** A step of any other opcode; its fields may depend on the invoke. */
export function step(
  op: string,
  name: string,
  fields: Record<string, unknown> | ((invoke: Invoke, results: Results) => Record<string, unknown>),
): Step {
  return {
    name,
    make: (invoke, results) => ({ op, ...(typeof fields === 'function' ? fields(invoke, results) : fields) }),
  }
}

export const sleep = (name: string, sleepMs: number): Step => step('Sleep', name, { sleepMs })
export const wait = (name: string, eventName: string, timeoutMs = 3_600_000): Step =>
  step('WaitForEvent', name, { eventName, timeoutMs })
export const child = (name: string, childName: string, childData?: unknown): Step =>
  step('RunWorkflow', name, { childName, ...(childData === undefined ? {} : { childData }) })
export const emit = (name: string, eventName: string, data?: unknown): Step =>
  step('Emit', name, { eventName, ...(data === undefined ? {} : { data }) })

/** A handler that goes through `stages` in order; the steps of one stage are parallel. */
export function flow(
  stages: readonly (Step | readonly Step[])[],
  result: (results: Results, invoke: Invoke) => unknown = results => results,
): Handler {
  return async (invoke, record) => {
    const results: Results = {}
    const uses = new Map<string, number>()
    for (const stage of stages) {
      const steps = (Array.isArray(stage) ? stage : [stage]) as readonly Step[]
      const ids = steps.map(({ name }) => positional(uses, name))
      const opcodes: Opcode[] = []
      let stuck = false
      for (const [i, member] of steps.entries()) {
        const id = ids[i] as string
        const entry = invoke.steps[stepId(id)]
        if (isSettled(entry)) results[id] = entry.error ? { error: entry.error } : entry.data
        else stuck = true
        if (entry === undefined) opcodes.push(await execute(member, id, { invoke, results, record }))
      }
      if (stuck) return discovered(opcodes)
    }
    return returned(await result(results, invoke))
  }
}

async function execute(
  member: Step,
  id: string,
  { invoke, results, record }: { invoke: Invoke; results: Results; record: RunnerRecord },
): Promise<Opcode> {
  const { runId } = invoke.ctx
  const { pass, receivedBy } = invoke
  record.executes({ runId, name: id, id: stepId(id), pass, receivedBy })
  const { op, ...fields } = await member.make(invoke, results)
  return { ...opcode(op as string, id, fields), name: member.name }
}

function positional(uses: Map<string, number>, name: string): string {
  const use = uses.get(name) ?? 0
  uses.set(name, use + 1)
  return use === 0 ? name : `${name}:${use}`
}

function isSettled(entry: MemoEntry | undefined): entry is MemoEntry {
  return entry !== undefined && entry.pending !== true
}
