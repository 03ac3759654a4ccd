// A pass of the runner that reports its steps over HTTP while it continues, as docs/wire-protocol.md#checkpoints-over-http
// says. Breakages replace parts of it.

import type { Invoke } from '../kit/runner/runner-record.ts'
import type { MemoEntry, Opcode } from '../kit/runner/wire.ts'
import { pass, type Reply } from './runner.ts'

export interface ReportingOptions {
  /** The seq of the n-th report at a given try, both from 1. */
  seqOf?: (n: number, tries: number) => number
  /** Continues before the receipt is there. */
  isHasty?: boolean
  /** Continues after a receipt with `stop`, or after a 410. */
  isStubborn?: boolean
}

interface Receipt {
  steps: ({ id: string } & MemoEntry)[]
  stop?: boolean
}

const TRIES_MAX = 4
/** How long a hasty runner waits for a receipt. */
const HASTE_MS = 20

export async function reportingPass(invoke: Invoke, options: ReportingOptions = {}): Promise<Reply> {
  const steps = { ...invoke.steps }
  for (let n = 1; ; n++) {
    const reply = await pass({ ...invoke, steps })
    const { opcodes = [] } = reply.body
    if (reply.status !== 206 || opcodes.length === 0) return reply
    const sent = report(invoke.ctx.checkpointUrl as string, { n, opcodes }, options)
    if (options.isHasty) await Promise.race([sent, new Promise(resolve => setTimeout(resolve, HASTE_MS))])
    const receipt = options.isHasty ? asStored(opcodes) : await sent
    if (!receipt) return reply
    for (const { id, ...entry } of receipt.steps) {
      const isAsReported = Object.keys(entry).length === 0
      steps[id] = isAsReported ? { data: opcodes.find(opcode => opcode.id === id)?.data } : entry
    }
    if (receipt.stop && !options.isStubborn) return { status: 206, body: { opcodes: [] } }
  }
}

/** A pass of the runner, with reports if the invoke says how to send them. */
export const handler = (invoke: Invoke) =>
  invoke.ctx.checkpointUrl === undefined ? pass(invoke) : reportingPass(invoke)

/** Undefined: the report may not be stored. */
async function report(
  url: string,
  { n, opcodes }: { n: number; opcodes: Opcode[] },
  { seqOf = count => count, isStubborn }: ReportingOptions,
): Promise<Receipt | undefined> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const body = JSON.stringify({ seq: seqOf(n, tries), opcodes, logs: [] })
    const answer = await fetch(url, { method: 'POST', body }).catch(() => undefined)
    if (answer?.status === 200) return (await answer.json()) as Receipt
    if (answer?.status === 410) return isStubborn ? asStored(opcodes) : undefined
  }
  return undefined
}

function asStored(opcodes: readonly Opcode[]): Receipt {
  return { steps: opcodes.map(({ id }) => ({ id })) }
}
