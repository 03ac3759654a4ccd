// A pass with checkpoints for unit tests: each report waits until the test acknowledges it.

import type { MemoEntry, Opcode, RunnerLogLine } from '@perdure/protocol'
import type { CheckpointReceipt, CheckpointReport } from '../../pass/checkpoints.ts'
import { Cancellation } from '../../run/cancellation.ts'
import { createHandler } from '../../runner/handler.ts'
import { createWorkflow } from '../../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../../workflow/workflow.ts'

interface Report {
  opcodes: Opcode[]
  logs: RunnerLogLine[]
  bytes: number
  acknowledge(receipt?: Partial<CheckpointReceipt>): void
  fail(): void
}

/** One pass whose reports a test reads and acknowledges one by one. */
export class CheckpointedPass {
  readonly reports: Report[] = []
  readonly cancellation = new Cancellation()
  readonly ended: Promise<{
    status: number
    body: { data?: unknown; opcodes?: Opcode[]; logs: RunnerLogLine[] }
  }>
  #next: (report: Report) => void = () => undefined
  #read = 0

  constructor(
    handler: (args: WorkflowArgs) => unknown,
    acknowledgesAll = false,
    steps: Record<string, MemoEntry> = {},
    features: readonly string[] = [],
  ) {
    const workflow = createWorkflow({ name: 'flow' }, handler as (args: WorkflowArgs) => Promise<unknown>)
    const ctx = { runId: 'run_1', workflow: 'flow', attempt: 1, app: 'tests', runner: '', features: [...features] }
    const checkpoint = (report: CheckpointReport) =>
      new Promise<CheckpointReceipt>((resolve, reject) => {
        const opcodes: Opcode[] = JSON.parse(report.opcodes)
        const bytes = Buffer.byteLength(report.opcodes) + Buffer.byteLength(report.logs)
        const asReported = opcodes.map(({ id, op }) => (parks(op) ? { id, pending: true } : { id }))
        const read: Report = {
          opcodes,
          logs: JSON.parse(report.logs),
          bytes,
          acknowledge: receipt => resolve({ steps: asReported, ...receipt }),
          fail: () => reject(new Error('The socket is lost')),
        }
        this.reports.push(read)
        if (acknowledgesAll) read.acknowledge()
        this.#next(read)
      })
    this.ended = createHandler({ app: 'tests', workflows: [workflow], signingKey: [] })
      .invoke({ event: { name: 'flow' }, steps, ctx }, { checkpoint, cancellation: this.cancellation })
      .then(({ status, body }) => ({ status, body: JSON.parse(body) }))
  }

  /** Returns the next report. Each report is returned once. */
  async report(): Promise<Report> {
    const at = this.#read++
    const known = this.reports[at]
    if (known) return known
    return new Promise(resolve => {
      this.#next = resolve
    })
  }
}

function parks(op: Opcode['op']): boolean {
  return op === 'Sleep' || op === 'SleepUntil' || op === 'WaitForEvent' || op === 'RunWorkflow'
}
