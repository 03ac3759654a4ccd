// The workflows that run while the engine is killed: an order that uses every opcode, its child, and a listener to
// its events. Every payload carries the order's token, to link the records of client, runner and engine.

import {
  type Api,
  type Executed,
  flow,
  type Invoke,
  type PlainRunnerOptions,
  RunnerRecord,
  run,
  sleep,
  step,
} from '../../kit/index.ts'
import { Ledger } from '../../kit/ledger.ts'

export const ORDER = 'order'
export const PACK = 'pack'
export const LISTENER = 'listener'
export const ANNOUNCED = 'order.announced'
export const approvalOf = (token: string) => `approved.${token}`

/** The names of the steps of an order, in no order. */
export const ORDER_STEPS = ['reserve', 'charge', 'announce', 'notify', 'pause', 'approval', 'pack', 'ship']

const tokenOf = ({ event }: Invoke) => (event.data as { token: string }).token

export function workload(hookUrl: string): PlainRunnerOptions['workflows'] {
  const order = flow(
    [
      run('reserve', tokenOf),
      [
        run('charge', tokenOf),
        step('Emit', 'announce', invoke => ({ eventName: ANNOUNCED, data: { token: tokenOf(invoke) } })),
        step('Webhook', 'notify', invoke => ({ webhookUrl: hookUrl, data: { token: tokenOf(invoke) } })),
        sleep('pause', 30),
      ],
      [
        step('WaitForEvent', 'approval', invoke => ({
          eventName: approvalOf(tokenOf(invoke)),
          timeoutMs: 3_600_000,
        })),
        step('RunWorkflow', 'pack', invoke => ({ childName: PACK, childData: { token: tokenOf(invoke) } })),
      ],
      run('ship', tokenOf),
    ],
    ({ reserve, charge, pack, ship }) => ({ reserve, charge, pack, ship }),
  )
  return {
    [ORDER]: order,
    [PACK]: flow([run('box', tokenOf), sleep('glue', 10)], ({ box }) => box),
    [LISTENER]: {
      handler: flow([run('note', tokenOf)], ({ note }) => note),
      registration: { triggers: [{ event: ANNOUNCED }] },
    },
  }
}

/** The runner's ledger: each result when a pass first carried it, and each executed step. */
type RunnerEntry =
  | { kind: 'carried'; runId: string; stepId: string; result: string | undefined }
  | { kind: 'executed'; runId: string; stepId: string; name: string; pass: number }

/**
 * The runner's record of a long test. It checks each invoke when it arrives, and keeps only the newest memo of each run. A memo
 * only grows: a settled step that a later pass lacks, or carries with another result, was lost.
 */
export class MemoRecord extends RunnerRecord {
  readonly ledger = new Ledger<RunnerEntry>('runner')
  readonly #changed: string[] = []
  readonly #settled = new Map<string, Map<string, string>>()
  readonly #passes = new Map<string, number>()
  invokeCount = 0
  executedCount = 0
  carriedCount = 0

  /** Results that changed or disappeared, and steps that ran again although a pass had carried their result. */
  get problems(): string[] {
    const problems = [...this.#changed]
    const carried = new Set<string>()
    for (const entry of this.ledger.entries()) {
      const step = `${entry.runId} ${entry.stepId}`
      if (entry.kind === 'carried') carried.add(step)
      else if (carried.has(step))
        problems.push(
          `${entry.runId} pass ${entry.pass}: step ${entry.name} is executed again although its result was seen`,
        )
    }
    return problems
  }

  override received(invoke: Omit<Invoke, 'pass'>): Invoke {
    this.invokeCount++
    const { runId, workflow } = invoke.ctx
    const pass = (this.#passes.get(runId) ?? 0) + 1
    this.#passes.set(runId, pass)
    const settled = this.#settled.get(runId) ?? new Map<string, string>()
    this.#settled.set(runId, settled)
    for (const [id, result] of settled) {
      const now = resultOf(invoke, id)
      if (now !== result) this.#changed.push(`${workflow} ${runId} pass ${pass}: step ${id} was ${result}, is ${now}`)
    }
    for (const id of Object.keys(invoke.steps)) {
      const result = resultOf(invoke, id)
      if (result === undefined || settled.has(id)) continue
      settled.set(id, result)
      this.carriedCount++
      this.ledger.append({ kind: 'carried', runId, stepId: id, result: JSON.stringify(invoke.steps[id]?.data) })
    }
    return { ...invoke, pass }
  }

  override executes({ runId, name, id, pass }: Executed): void {
    this.executedCount++
    this.ledger.append({ kind: 'executed', runId, stepId: id, name, pass })
  }

  override passes(runId: string): number {
    return this.#passes.get(runId) ?? 0
  }

  /** Every run that was ever invoked. */
  get runIds(): Iterable<string> {
    return this.#passes.keys()
  }
}

function resultOf({ steps }: Pick<Invoke, 'steps'>, id: string): string | undefined {
  const entry = steps[id]
  return entry === undefined || entry.pending ? undefined : JSON.stringify(entry)
}

/** Enough attempts for a delivery with many kills: a kill during a POST costs an attempt. */
export const MANY_ATTEMPTS = Array(100).fill('1s').join(',')

/** Whether a delivery of the app is in flight or waits for its next attempt. */
export async function hasOpenDeliveries(api: Api, app: string): Promise<boolean> {
  for (const status of ['pending', 'delivering', 'failed']) {
    const { json } = await api.get(`/webhook-deliveries?app=${app}&status=${status}&limit=1`)
    if ((json as unknown[]).length > 0) return true
  }
  return false
}
