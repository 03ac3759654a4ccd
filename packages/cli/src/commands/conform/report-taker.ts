// The engine's side of reports over HTTP: takes the reports of one pass on this machine, and answers as the case says. Called by
// play.ts.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Receipt } from './cases.ts'
import { same } from './expectations.ts'
import { type Answer, Fault, member, type PassRequest, parsed, type RunnerUnderTest } from './runner.ts'

const TOKEN = 'conform'

/**
 * Sends a pass whose steps may be reported. The n-th report gets the n-th receipt, further reports get the last. Resolves with
 * the answer, and with the reports that came before it.
 */
export async function passWithReports(
  runner: RunnerUnderTest,
  request: PassRequest,
  receipts: readonly Receipt[],
): Promise<{ answer: Answer; reports: unknown[] }> {
  const reports: unknown[] = []
  /** The report whose receipt is held back, and the first one with another seq that arrived meanwhile. */
  let held: unknown
  let early: unknown
  const server = createServer((request, response) => void answerReport(request, response))
  async function answerReport(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const report = parsed(await text(request))
    const receipt = receipts[Math.min(reports.push(report), receipts.length) - 1]
    if (held && member(report, 'seq') !== member(held, 'seq')) early ??= report
    if (receipt === 'none') return void response.destroy()
    if (typeof receipt === 'object' && 'holdMs' in receipt) {
      held = report
      await sleep(receipt.holdMs)
      held = undefined
    }
    const { status, body } = replyOf(receipt, report)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const ctx = {
    features: ['http-checkpoints'],
    checkpointToken: TOKEN,
    checkpointUrl: `http://127.0.0.1:${port}/invokes/${TOKEN}/checkpoints`,
  }
  try {
    const answer = await runner.pass({ ...request, ctx: { ...request.ctx, ...ctx } })
    if (early) throw new Fault(`expected no report before the receipt of the first one, got ${JSON.stringify(early)}`)
    // A runner may give up waiting for the receipt. The steps of that report then belong in its answer.
    if (held) same('the steps of the answer before the receipt', stepsOf(answer.body), stepsOf(held))
    return { answer, reports: [...reports] }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** A receipt says of each step that it succeeded as reported, unless the case defines its own. */
function replyOf(receipt: Receipt | undefined, report: unknown): { status: number; body: object } {
  if (typeof receipt === 'object' && 'status' in receipt) return receipt
  const stop = receipt === 'stop' ? { stop: true } : {}
  return { status: 200, body: { seq: member(report, 'seq'), steps: stepsOf(report), ...stop } }
}

function stepsOf(body: unknown): object[] {
  const opcodes = member(body, 'opcodes')
  return Array.isArray(opcodes) ? opcodes.map(opcode => ({ id: member(opcode, 'id') })) : []
}
