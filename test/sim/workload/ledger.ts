// What the runners did: every pass that was sent to one and every step they executed. The checkers compare it with
// what the engine stored; nothing in it comes from the engine but the invokes themselves.

import type { Found } from './handler.ts'
import type { InvokeRequest, LogLine } from './wire.ts'

export interface Execution {
  /** Hashed step id. */
  stepId: string
  /** Unique; in the `data` of a step that succeeded, and in the message of one that failed. */
  token: string
  failed: boolean
  lines: LogLine[]
}

/** One invoke that was sent. */
export interface Pass {
  no: number
  /** Which incarnation of the engine sent it. */
  engine: number
  namespace: string
  request: InvokeRequest
  sentAt: number
  timeoutMs: number
  executions: Execution[]
  /** When the runner had its answer ready. */
  answeredAt?: number
  /** Steps it reported, by hashed id. */
  reported: Map<string, Found>
  /** The result's token, of a pass that returned. */
  returned?: string
  rootLines: LogLine[]
}

export class Ledger {
  readonly #passes = new Map<string, Pass[]>()
  readonly #executions = new Map<string, Execution[]>()
  #count = 0

  sent(pass: Omit<Pass, 'no' | 'executions' | 'reported' | 'rootLines'>): Pass {
    const kept = { ...pass, no: ++this.#count, executions: [], reported: new Map(), rootLines: [] }
    const { runId } = pass.request.ctx
    this.#passes.set(runId, [...this.passes(runId), kept])
    return kept
  }

  executed(pass: Pass, execution: Execution): void {
    const { runId } = pass.request.ctx
    pass.executions.push(execution)
    this.#executions.set(key(runId, execution.stepId), [
      ...this.executions(runId, execution.stepId),
      execution,
    ])
  }

  /** Every pass sent for the run, in order. */
  passes(runId: string): readonly Pass[] {
    return this.#passes.get(runId) ?? []
  }

  executions(runId: string, stepId: string): readonly Execution[] {
    return this.#executions.get(key(runId, stepId)) ?? []
  }

  get passCount(): number {
    return this.#count
  }
}

function key(runId: string, stepId: string): string {
  return `${runId} ${stepId}`
}
