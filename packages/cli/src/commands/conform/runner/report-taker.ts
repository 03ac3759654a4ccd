// The engine's side of reports over HTTP: takes those of one pass on this machine, records them, and answers as the check wants. Used
// by the checks of reports.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HTTP_CHECKPOINTS_FEATURE } from '@perdure/protocol'
import { member } from './expectations.ts'
import type { Answer, PassRequest, RunnerUnderTest } from './runner.ts'

/** How a report is answered. `none`: the connection is cut without an answer. */
export type Receipt = 'none' | { status: number; body: object }

/** `count`: the number of the report, from 1. */
export type Take = (report: unknown, count: number) => Receipt | Promise<Receipt>

const TOKEN = 'conform'

/** A receipt for steps that succeeded as reported. */
export function stored(report: unknown, fields: object = {}): Receipt {
  const opcodes = member(report, 'opcodes')
  const steps = Array.isArray(opcodes) ? opcodes.map(opcode => ({ id: member(opcode, 'id') })) : []
  return { status: 200, body: { seq: member(report, 'seq'), steps, ...fields } }
}

/** Sends a pass whose steps may be reported. Resolves with its answer, and with the reports that came before it. */
export async function passWithReports(
  runner: RunnerUnderTest,
  request: PassRequest,
  take: Take,
): Promise<{ answer: Answer; reports: unknown[] }> {
  const reports: unknown[] = []
  const server = createServer((request, response) => void answerReport(request, response))
  async function answerReport(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const report = parsed(Buffer.concat(chunks).toString('utf8'))
    const receipt = await take(report, reports.push(report))
    if (receipt === 'none') return void response.destroy()
    response.writeHead(receipt.status, { 'content-type': 'application/json' }).end(JSON.stringify(receipt.body))
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ctx = {
    features: [HTTP_CHECKPOINTS_FEATURE],
    checkpointToken: TOKEN,
    checkpointUrl: `http://127.0.0.1:${port}/invokes/${TOKEN}/checkpoints`,
  }
  try {
    return { answer: await runner.pass({ ...request, ctx }), reports: [...reports] }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
