// The network between runners and engines for reports over HTTP (docs/wire-protocol.md#checkpoints-over-http): slow, sometimes
// losing a report or its answer. It delivers some reports twice and late, and some to another engine on the store, which forwards
// them. Every answer is checked.

import type { Engine } from '../../../packages/engine/src/compose/engine.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { Faults } from '../core/faults.ts'
import type { Rng } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import type { Trace } from '../core/trace.ts'
import { ensure, type Violation } from '../core/violation.ts'
import { hashId } from '../workload/handler.ts'
import type { Pass } from '../workload/runner-record.ts'
import type { Checkpoint, CheckpointAck } from '../workload/wire.ts'
import { Gateway, type ReportAnswer } from './gateway.ts'
import type { Life } from './life.ts'

/** An invoke whose runner sends reports. */
export interface Reporting {
  pass: Pass
  readonly ended: boolean
  /** The highest seq that was sent. */
  sentSeq: number
  /** The receipts by seq, in the order of arrival. */
  readonly receipts: Map<number, string>
}

export interface SimReportsDeps {
  clock: SimClock
  faults: Faults
  trace: Trace
  rng: Rng
  store: Store
  /** The engine in service. */
  current(): { life: Life; engine: Engine } | undefined
  fail(violation: Violation): void
}

const TRIES_MAX = 3
/** Longer than most passes take, so a repeat may arrive after the end of its pass or run. */
const LATE_MS_MAX = 5000
/** The refusals after which the report may be stored or not. */
const UNCERTAIN = [429, 500, 503]

export class SimReports {
  readonly #deps: SimReportsDeps
  readonly #gateway: Promise<Gateway>

  constructor(deps: SimReportsDeps) {
    const { clock, store, rng } = deps
    this.#deps = deps
    const post = (token: string, payload: string) => this.#post(token, payload)
    this.#gateway = Gateway.open({ clock, store, seed: rng.int(0, 1e6), post })
  }

  /**
   * Sends a report until an answer comes. `unreported`: none came; it may be stored or not. `over`: the engine says that the
   * pass is over.
   */
  async report(flight: Reporting, report: Checkpoint): Promise<CheckpointAck | 'unreported' | 'over'> {
    const { clock, faults } = this.#deps
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (tries > 0) await clock.wait(faults.stream('reportLost').int(50, 500))
      const answer = await this.#send(flight, report)
      if (answer?.status === 410) return 'over'
      if (answer?.status === 200) return JSON.parse(answer.text) as CheckpointAck
    }
    return 'unreported'
  }

  async #send(flight: Reporting, report: Checkpoint): Promise<ReportAnswer | undefined> {
    const { faults } = this.#deps
    flight.sentSeq = Math.max(flight.sentSeq, report.seq)
    if (faults.strikes('reportRepeated')) void this.#repeat(flight, report)
    await this.#travel()
    if (faults.strikes('reportLost')) return undefined
    const answer = await this.#deliver(flight, report)
    if (answer?.status === 200 && !flight.receipts.has(report.seq)) flight.receipts.set(report.seq, answer.text)
    return faults.strikes('reportLost') ? undefined : answer
  }

  /** Delivers the report once more, later. If it has been answered, the repeat may have other content, which must not count. */
  async #repeat(flight: Reporting, report: Checkpoint): Promise<void> {
    const { clock, faults } = this.#deps
    const stream = faults.stream('reportRepeated')
    await clock.wait(stream.int(1, stream.pick([20, 200, LATE_MS_MAX])))
    const smuggled = { op: 'StepRun', id: hashId('smuggled'), name: 'smuggled', data: { token: 'smuggled' } } as const
    const isForged = flight.receipts.has(report.seq) && stream.chance(0.7)
    await this.#deliver(flight, isForged ? { ...report, opcodes: [...report.opcodes, smuggled] } : report)
  }

  async #travel(): Promise<void> {
    const { clock, faults, rng } = this.#deps
    await clock.wait(faults.strikes('reportSlow') ? faults.stream('reportSlow').int(1, 3000) : rng.int(1, 3))
  }

  /** Undefined: no engine answers. */
  async #deliver(flight: Reporting, report: Checkpoint): Promise<ReportAnswer | undefined> {
    const { faults, trace, fail } = this.#deps
    const { pass } = flight
    const token = pass.request.ctx.checkpointToken as string
    const wasOver = flight.ended
    const isElsewhere = faults.strikes('reportElsewhere')
    const what = `report ${report.seq} of pass ${pass.no} of ${pass.request.ctx.runId}${isElsewhere ? ' elsewhere' : ''}`
    trace.add(`${what}: ${JSON.stringify(report).slice(0, 300)}`)
    const payload = JSON.stringify(report)
    const answer = await (isElsewhere ? this.#forwarded(token, payload) : this.#post(token, payload))
    // Refusals contain a number of the request.
    trace.add(`${what} is answered: ${answer?.status} ${answer?.status === 200 ? answer.text.slice(0, 300) : ''}`)
    try {
      if (answer) checkAnswer(flight, { report, answer, wasOver, what })
    } catch (violation) {
      fail(violation as Violation)
    }
    return answer
  }

  /** Posts to the engine that serves now, like a runner that knows one address. */
  async #post(token: string, payload: string): Promise<ReportAnswer | undefined> {
    const { clock, current } = this.#deps
    const serving = current()
    if (!serving) return undefined
    const { life, engine } = serving
    clock.activity.sign()
    const url = `/invokes/${token}/checkpoints`
    const headers = { 'content-type': 'application/json' }
    const answered = engine.app.inject({ method: 'POST', url, headers, payload }).catch((error: { code?: string }) => {
      if (life.draining && error.code === 'FST_ERR_REOPENED_CLOSE_SERVER') return undefined
      throw error
    })
    const answer = await answered
    clock.activity.sign()
    return answer && !life.dead ? { status: answer.statusCode, text: answer.body } : undefined
  }

  /** Posts to another engine, which forwards the report to the engine that sent the pass, if that engine is still in service. */
  async #forwarded(token: string, payload: string): Promise<ReportAnswer> {
    return (await this.#gateway).receive(token, payload)
  }
}

function checkAnswer(
  flight: Reporting,
  { report, answer, wasOver, what }: { report: Checkpoint; answer: ReportAnswer; wasOver: boolean; what: string },
): void {
  const { status, text } = answer
  const { runId } = flight.pass.request.ctx
  const detail = () => `${what}: ${status} ${text}`
  ensure([200, 410, ...UNCERTAIN].includes(status), 'a report is answered as documented', detail, [runId])
  ensure(!wasOver || status !== 200, 'the token of a pass that is over is void', detail, [runId])
  const { receipts, sentSeq } = flight
  const first = receipts.get(report.seq)
  // While other reports are under way, one of them may have been stored in between.
  const isNewest = receipts.size === sentSeq && [...receipts.keys()].at(-1) === report.seq
  ensure(
    status !== 200 || !isNewest || first === text,
    'a repeated report gets the same receipt',
    () => `${detail()} after ${first}`,
    [runId],
  )
}
