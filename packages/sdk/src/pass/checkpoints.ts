// Makes finished steps durable while the pass continues: sends opcodes and log lines, and receives settlements. One report is
// under way at a time; steps that finish before its receipt are reported together in the next. Connect runners have checkpoints,
// and HTTP runners that can reach their engine have them too. See docs/wire-protocol.md#checkpoints. Called by the pass.

import { type CheckpointedStep, type MemoEntry, type OpcodeOf, RESPONSE_BYTES_MAX } from '@perdure/protocol'
import type { LogBuffer } from '../run/log-buffer.ts'
import type { RunReport } from '../run/run-report.ts'
import { byteLength } from '../wire/text-size.ts'
import type { Discoveries } from './discoveries.ts'
import type { Settlement } from './memo.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'

/** The lists of an `invoke.checkpoint` frame, each as JSON text. */
export interface CheckpointReport {
  readonly opcodes: string
  readonly logs: string
  /** Further fields of the frame, each after a comma. */
  readonly fields?: string
}

/** The payload of `checkpoint.ack`: the reported steps are durable. */
export interface CheckpointReceipt {
  /** In the order in which a replay will settle the steps. */
  readonly steps: readonly CheckpointedStep[]
  /** Settle no further step call: let the running callbacks finish, and end the pass with their opcodes. */
  readonly stop?: boolean
}

/**
 * The runner does not know whether a report is stored: the pass continues without checkpoints, and its answer carries the report.
 */
export class UnreportedError extends Error {
  readonly isUnreachable: boolean

  constructor(message: string, isUnreachable: boolean) {
    super(message)
    this.isUnreachable = isUnreachable
  }
}

/** Returns the payload of a checkpoint as JSON text. */
export function checkpointPayload(seq: number, { opcodes, logs, fields = '' }: CheckpointReport): string {
  return `{"seq":${seq},"opcodes":${opcodes},"logs":${logs}${fields}}`
}

/**
 * Resolves when the report is durable. Rejects with an {@link UnreportedError}, or when the report can never be stored; the pass
 * is then cancelled. The runner ensures that one of these happens within a bounded time. Several reports may be under way: they
 * become durable in the order of the calls.
 */
export type Checkpointer = (report: CheckpointReport) => Promise<CheckpointReceipt>

/** Space in each report for the JSON around its lists, and for a line that says how many log lines were dropped. */
const REPORT_RESERVE_BYTES = 2048

interface CheckpointsOptions {
  logs: LogBuffer
  report: RunReport
  /** May write log lines for the report. */
  beforeReport(): void
  /** Whether further steps may be reported. Default: until the pass ends. */
  isOpen?: (() => boolean) | undefined
}

export class Checkpoints {
  readonly #checkpointer: Checkpointer
  readonly #options: CheckpointsOptions
  #hasFailed = false
  /** Whether a report is under way. */
  underWay = false
  /** Whether the engine has stored a report of the pass. */
  hasStored = false

  constructor(checkpointer: Checkpointer, options: CheckpointsOptions) {
    this.#checkpointer = checkpointer
    this.#options = options
  }

  /** Whether the pass may report its steps. If not, it ends like a pass without checkpoints. */
  get isOpen(): boolean {
    const { isOpen } = this.#options
    return !this.#hasFailed && (isOpen === undefined || isOpen())
  }

  /** Whether there is progress to report. */
  get hasProgress(): boolean {
    return this.#options.report.hasProgress
  }

  /**
   * Reports as many discovered steps as fit. Resolves with the receipt's settlements; rejects without a receipt. After an
   * {@link UnreportedError} the answer of the pass carries the report.
   */
  async report(discoveries: Discoveries): Promise<{ settlements: Settlement[]; stop: boolean }> {
    const { logs: buffer, report, beforeReport } = this.#options
    this.underWay = true
    beforeReport()
    const fields = report.take()
    const most = RESPONSE_BYTES_MAX - REPORT_RESERVE_BYTES - byteLength(fields)
    const reported = new Map<string, EncodedOpcode>()
    for (const opcode of discoveries.take(most - REPORT_RESERVE_BYTES)) {
      reported.set(opcode.id, opcode)
    }
    const opcodes = `[${[...reported.values()].map(({ text }) => text).join(',')}]`
    const logs = buffer.drain([...reported.keys()], most - byteLength(opcodes))
    const receipt = this.#checkpointer({ opcodes, logs, fields }).catch(error => {
      if (error instanceof UnreportedError) this.#takeBack(discoveries, [...reported.values()])
      throw error
    })
    const { steps, stop = false } = await receipt
    this.hasStored = true
    this.underWay = false
    return { settlements: steps.map(step => settlement(step, reported.get(step.id))), stop }
  }

  #takeBack(discoveries: Discoveries, opcodes: EncodedOpcode[]): void {
    this.#hasFailed = true
    this.underWay = false
    discoveries.takeBack(opcodes)
    this.#options.logs.takeBack()
    this.#options.report.takeBack()
  }
}

function settlement(step: CheckpointedStep, reported: EncodedOpcode | undefined): Settlement {
  const { id, data, error, pending } = step
  if (pending) return { id, entry: { pending } }
  if (error) return { id, entry: { error } }
  return { id, entry: data === undefined && reported ? asReported(reported) : { data: data ?? null } }
}

/** Returns the entry that the memo of a later replay will contain: the reported result after a JSON round trip, or null. */
export function asReported({ op, text }: EncodedOpcode): MemoEntry {
  if (!OPCODE_RULES[op].hasResult) return { data: null }
  const { data = null, error }: OpcodeOf<'StepRun'> = JSON.parse(text)
  return error ? { error } : { data }
}
