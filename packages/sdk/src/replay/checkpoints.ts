// Makes finished steps durable while the pass goes on: opcodes and log lines out, settlements back. One report is
// under way at a time; what finishes meanwhile goes into the next together. Fed by the pass.

import type { CheckpointedStep, MemoEntry, OpcodeOf } from '@perdure/protocol'
import { byteLength } from '../json.ts'
import { RESPONSE_BYTES_MAX } from '../limits.ts'
import type { LogBuffer } from '../log-buffer.ts'
import type { Checkpointer } from './checkpoint.ts'
import type { Discoveries } from './discoveries.ts'
import type { Settlement } from './memo.ts'
import type { EncodedOpcode } from './opcode.ts'

/** Kept free of each report for what surrounds its lists, and for a line that tells of dropped ones. */
const RESERVE_BYTES = 2048

export class Checkpoints {
  readonly #checkpointer: Checkpointer
  readonly #logs: LogBuffer
  #underWay = false

  constructor(checkpointer: Checkpointer, logs: LogBuffer) {
    this.#checkpointer = checkpointer
    this.#logs = logs
  }

  get underWay(): boolean {
    return this.#underWay
  }

  /** Reports what there is, as far as it fits. Gives what the receipt tells; rejects when there will be none. */
  async report(discoveries: Discoveries): Promise<{ settlements: Settlement[]; stop: boolean }> {
    this.#underWay = true
    const reported = new Map<string, EncodedOpcode>()
    for (const opcode of discoveries.take(RESPONSE_BYTES_MAX - 2 * RESERVE_BYTES)) {
      reported.set(opcode.id, opcode)
    }
    const opcodes = `[${[...reported.values()].map(({ text }) => text).join(',')}]`
    const room = RESPONSE_BYTES_MAX - RESERVE_BYTES - byteLength(opcodes)
    const logs = this.#logs.drain([...reported.keys()], room)
    const { steps, stop = false } = await this.#checkpointer({ opcodes, logs })
    this.#underWay = false
    return { settlements: steps.map(step => settlement(step, reported.get(step.id))), stop }
  }
}

function settlement(step: CheckpointedStep, reported: EncodedOpcode | undefined): Settlement {
  const { id, data, error, pending } = step
  if (pending) return { id, entry: { pending } }
  if (error) return { id, entry: { error } }
  return { id, entry: data === undefined && reported ? asReported(reported) : { data: data ?? null } }
}

/** What the memo of a later replay will hold: the round trip of what was reported, and null for no result. */
function asReported({ op, text }: EncodedOpcode): MemoEntry {
  if (op !== 'StepRun') return { data: null }
  const { data = null, error }: OpcodeOf<'StepRun'> = JSON.parse(text)
  return error ? { error } : { data }
}
