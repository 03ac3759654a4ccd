// Reports of a runner over HTTP during its pass, as docs/wire-protocol.md#checkpoints-over-http describes them.

import type { InvokeRequest, Opcode } from './wire.ts'

/** The part of an invoke with the address for its reports. */
export type ReportingInvoke = Pick<InvokeRequest, 'ctx'>

export interface ReportAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the type depends on the status
  body: any
  text: string
}

/** Posts a report of steps. `url`: the target, if not the address in the invoke. */
export function reportSteps(
  { ctx }: ReportingInvoke,
  { seq = 1, opcodes = [], ...fields }: { seq?: number; opcodes?: Opcode[] } & Record<string, unknown>,
  url = ctx.checkpointUrl as string,
): Promise<ReportAnswer> {
  return postReport(url, JSON.stringify({ seq, opcodes, ...fields }))
}

export async function postReport(url: string, body: string | Uint8Array): Promise<ReportAnswer> {
  const response = await fetch(url, { method: 'POST', body: body as string })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text), text }
}
