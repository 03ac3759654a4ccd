// Checks of reports over HTTP, for a runner on this machine that sends any (docs/wire-protocol.md#checkpoints-over-http).

import { member, reports as reportsSteps, returns, same } from '../runner/expectations.ts'
import { passWithReports, type Receipt, stored } from '../runner/report-taker.ts'
import { type Answer, Fault, type PassRequest, type RunnerUnderTest } from '../runner/runner.ts'
import { type Check, checksOf } from './check.ts'

const PASS: PassRequest = { workflow: 'conform-sequence', data: { n: 4 } }
const ADD = { op: 'StepRun', step: 'add', fields: { data: 5 } }
const DOUBLE = { op: 'StepRun', step: 'double', fields: { data: 10 } }
/** How long a receipt is held back. A runner that does not wait for it has begun the next step by then. */
const HELD_MS = 500
const GONE: Receipt = { status: 410, body: { error: { code: 'gone', message: 'the pass is over' } } }
const BUSY: Receipt = { status: 503, body: { error: { code: 'unavailable', message: 'not now' } } }

/** Whether the runner sends reports at all: it need not. */
export async function sendsReports(runner: RunnerUnderTest): Promise<boolean> {
  const { reports } = await passWithReports(runner, PASS, report => stored(report))
  return reports.length > 0
}

export const REPORT_CHECKS: readonly Check[] = checksOf('reports', {
  async 'reports a step that has ended, and the next one under a higher seq'(runner) {
    const { answer, reports } = await passWithReports(runner, PASS, report => stored(report))
    carries(reports[0], ADD)
    const seqs = reports.map(report => member(report, 'seq'))
    for (const [i, seq] of seqs.entries())
      if (!Number.isInteger(seq) || (seq as number) <= ((seqs[i - 1] ?? 0) as number))
        throw new Fault(`expected rising numbers from 1 on as the seqs of reports, got ${JSON.stringify(seqs)}`)
    if (reports.length === 1) return reportsSteps(answer, DOUBLE)
    carries(reports[1], DOUBLE)
    if (answer.status === 206) reportsSteps(answer)
    else returns(answer, { result: 10 })
  },
  async 'begins no step before the receipt of the one before it'(runner) {
    let held: unknown
    let early: unknown
    const { answer } = await passWithReports(runner, PASS, async (report, count) => {
      if (count === 1) {
        held = report
        await new Promise(resolve => setTimeout(resolve, HELD_MS))
        held = undefined
      } else if (held && member(report, 'seq') !== member(held, 'seq')) early = report
      return stored(report)
    })
    if (held) reportsSteps(answer, ADD)
    if (early) throw new Fault(`expected no report before the receipt of the first one, got ${JSON.stringify(early)}`)
  },
  async 'sends a report without a receipt again under its seq, or its steps with the answer'(runner) {
    const unanswered: Receipt[] = ['none', BUSY]
    const { answer, reports } = await passWithReports(
      runner,
      PASS,
      (report, count) => unanswered[count - 1] ?? stored(report),
    )
    const tries = reports.slice(0, unanswered.length + 1)
    for (const again of tries.slice(1)) {
      same('seq of the repeated report', member(again, 'seq'), member(tries[0], 'seq'))
      same('opcodes of the repeated report', member(again, 'opcodes'), member(tries[0], 'opcodes'))
    }
    if (tries.length <= unanswered.length) reportsSteps(answer, ADD)
  },
  async 'ends the pass at a receipt with stop'(runner) {
    const { answer, reports } = await passWithReports(runner, PASS, report => stored(report, { stop: true }))
    isOnly(reports, 'the receipt with stop')
    reportsSteps(answer)
  },
  async 'reports nothing more after a 410, and answers the pass'(runner) {
    const { answer, reports } = await passWithReports(runner, PASS, () => GONE)
    isOnly(reports, 'the 410')
    if (answer.status !== 206 && answer.status !== 200)
      throw new Fault(`expected a 206 or a 200 after the 410 of a report, got ${answer.status}`)
  },
})

/** The report has an opcode for this step and for no other. */
function carries(report: unknown, step: typeof ADD): void {
  const asAnswer: Answer = { status: 206, body: report }
  reportsSteps(asAnswer, step)
}

function isOnly(reports: readonly unknown[], after: string): void {
  if (reports.length > 1) throw new Fault(`expected no report after ${after}, got ${JSON.stringify(reports[1])}`)
}
