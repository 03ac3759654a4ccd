// The record of the runners: every pass sent to them and every step they executed. The checkers compare it with the store; only
// the invokes come from the engine.

import { unitOf } from '../core/random.ts'
import type { Found } from './handler.ts'
import type { InvokeRequest, LogLine, MemoEntry } from './wire.ts'

export interface Execution {
  /** Hashed step id. */
  stepId: string
  /** Unique; in the `data` of a step that succeeded, or the message of a step that failed. */
  token: string
  failed: boolean
  /** The attempt of the step, as the engine counts it. */
  attempt: number
  lines: LogLine[]
  /** The runner has begun to send its appends to output streams. */
  hasStreamed?: true
  /** The engine accepted no further appends of it. */
  isCut?: true
  /** When the execution started, for a step with a limit. */
  startedAt?: number
}

/** One invoke that was sent. */
export interface Pass {
  no: number
  /** The number of the engine that sent it. */
  engine: number
  namespace: string
  request: InvokeRequest
  sentAt: number
  timeoutMs: number
  /** The runner's knowledge: the memo, and the acks since. */
  memo: Record<string, MemoEntry>
  executions: Execution[]
  /** Whether the handler ran, and so was given the memo. */
  isAnswered?: true
  /** Times of the steps that were first reported in this pass, by hashed id. */
  reported: Map<string, { node: Found; at: number }>
  /** The token of the result, for a pass that returned. */
  returned?: string
  /** The data of the next run of the chain, for a pass that continued. */
  continuedWith?: unknown
  /** Hashed ids of the steps that a pass reported together with its result. */
  endedWith?: string[]
  /** The code of the error that ended the handler. */
  gaveCode?: string
  rootLines: LogLine[]
  /** When the sender got an answer or gave up. */
  endedAt?: number
}

export class RunnerRecord {
  readonly #passes = new Map<string, Pass[]>()
  readonly #executions = new Map<string, Execution[]>()
  readonly #awaited = new Map<string, string>()
  #count = 0

  sent(pass: Omit<Pass, 'no' | 'memo' | 'executions' | 'reported' | 'rootLines'>): Pass {
    const memo = { ...pass.request.steps }
    const kept = { ...pass, no: ++this.#count, memo, executions: [], reported: new Map(), rootLines: [] }
    const { runId } = pass.request.ctx
    this.#passes.set(runId, [...this.passes(runId), kept])
    return kept
  }

  executed(pass: Pass, execution: Execution): void {
    const { runId } = pass.request.ctx
    pass.executions.push(execution)
    this.#executions.set(key(runId, execution.stepId), [...this.executions(runId, execution.stepId), execution])
  }

  /** The run that a step waits for: another run of the namespace, the same for every report. */
  awaitedBy(
    { namespace, request: { ctx } }: { namespace: string; request: { ctx: { runId: string } } },
    stepId: string,
  ): string {
    const step = key(ctx.runId, stepId)
    const known = this.#awaited.get(step)
    if (known !== undefined) return known
    const others = [...this.#passes].flatMap(([runId, [pass]]) =>
      runId !== ctx.runId && pass?.namespace === namespace ? [runId] : [],
    )
    const chosen = others[Math.floor(unitOf(step) * others.length)] ?? 'run_nobody'
    this.#awaited.set(step, chosen)
    return chosen
  }

  /** Every pass sent for the run, in order. */
  passes(runId: string): readonly Pass[] {
    return this.#passes.get(runId) ?? []
  }

  executions(runId: string, stepId: string): readonly Execution[] {
    return this.#executions.get(key(runId, stepId)) ?? []
  }

  /** The executions of the run's steps. */
  executionsOf(runId: string): Execution[] {
    return this.passes(runId).flatMap(({ executions }) => executions)
  }

  /**
   * The starts of steps with a limit, by app of a namespace, without starts after the pass was given up by its engine or by
   * another engine that sent the next pass.
   */
  starts(): { app: string; at: number; runId: string; pass: number }[] {
    return [...this.#passes.values()].flatMap(ofRun =>
      ofRun.flatMap(({ namespace, request: { ctx }, no, executions, endedAt }) => {
        const isGivenUp = (at: number) =>
          at > (endedAt ?? at) || ofRun.some(later => later.no > no && later.sentAt <= at)
        return executions.flatMap(({ startedAt: at }) =>
          at === undefined || isGivenUp(at) ? [] : { app: `${namespace}/${ctx.app}`, at, runId: ctx.runId, pass: no },
        )
      }),
    )
  }

  get passCount(): number {
    return this.#count
  }
}

function key(runId: string, stepId: string): string {
  return `${runId} ${stepId}`
}
