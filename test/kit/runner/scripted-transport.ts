// A transport without runners: a function of the test answers each pass, checkpoints included. For engines in the
// test's process (`ports.transport`).

import type { InvokeCall, InvokeReply, InvokeSignal, Transport } from '../../../packages/engine/src/ports/transport.ts'
import type { InvokeRequest, MemoEntry, Opcode, Reply } from './wire.ts'

export interface Ack {
  seq: number
  steps: ({ id: string } & MemoEntry)[]
  stop?: boolean
}

/** One invoke, as a script sees it. */
export interface ScriptedPass {
  /** The number of the pass within the run, from 1. */
  no: number
  runId: string
  request: InvokeRequest
  signal: InvokeSignal
  /**
   * Reports steps during the pass. `seq` repeats an earlier checkpoint. Resolves with undefined when the engine has given up the
   * pass.
   */
  checkpoint(
    opcodes: readonly Opcode[],
    options?: { seq?: number; logs?: object[]; progress?: unknown; running?: unknown },
  ): Promise<Ack | undefined>
}

type Script = (pass: ScriptedPass) => Promise<InvokeReply>

export class ScriptedTransport implements Transport {
  /** The scripts, by workflow. */
  readonly scripts = new Map<string, Script>()
  /** All passes, by run. */
  readonly passes = new Map<string, ScriptedPass[]>()

  async invoke(call: InvokeCall): Promise<InvokeReply> {
    const request = JSON.parse(call.body) as InvokeRequest
    const { runId, workflow } = request.ctx
    const earlier = this.passes.get(runId) ?? []
    let sent = 0
    const pass: ScriptedPass = {
      no: earlier.length + 1,
      runId,
      request,
      signal: call.signal,
      async checkpoint(opcodes, { seq = ++sent, logs = [], progress, running } = {}) {
        const ack = await call.onCheckpoint?.(JSON.stringify({ seq, opcodes, logs, progress, running }))
        return ack === undefined ? undefined : (JSON.parse(ack) as Ack)
      },
    }
    this.passes.set(runId, [...earlier, pass])
    const script = this.scripts.get(workflow)
    return script ? script(pass) : { kind: 'refused', message: `no script for ${workflow}` }
  }

  async close(): Promise<void> {}
}

/** The transport's reply for a runner's answer. */
export function answeredWith(reply: Exclude<Reply, (...args: never[]) => unknown>): InvokeReply {
  return { kind: 'answered', status: reply.status, body: JSON.stringify(reply.body) }
}

/** The transport's reply after the engine has given up the pass. */
export const aborted: InvokeReply = { kind: 'aborted' }
export const broken: InvokeReply = { kind: 'broken', message: 'socket lost' }
