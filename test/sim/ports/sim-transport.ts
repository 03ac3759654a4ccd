// The network between an engine and the runners: slow, sometimes refusing, sometimes breaking before or after the runner's work.
// A request on its way may be executed even if its sender gave up or died.

import type { InvokeCall, InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'
import type { Faults } from '../core/faults.ts'
import type { Rng } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import type { Trace } from '../core/trace.ts'
import type { SimRunner } from '../workload/runner.ts'
import type { Pass, RunnerRecord } from '../workload/runner-record.ts'
import type { Answer, Checkpoint, CheckpointAck, InvokeRequest } from '../workload/wire.ts'
import { type Life, never } from './life.ts'
import type { SimAppends } from './sim-appends.ts'
import type { SimReports } from './sim-reports.ts'

export interface SendTap {
  /** Called when a pass is sent, with the passes in flight at that moment. */
  sent(pass: Pass, runner: SimRunner, underWay: Iterable<Pass>): void
  /** Called when the runner of the pass has processed an ack. */
  acknowledged(pass: Pass, ack: CheckpointAck): void
}

export interface SimTransportDeps {
  clock: SimClock
  faults: Faults
  rng: Rng
  trace: Trace
  runnerRecord: RunnerRecord
  tap: SendTap
  life: Life
  runners: ReadonlyMap<string, SimRunner>
  /** Invokes in flight, over all engines. The simulation's end waits for them. */
  underWay: Set<Pass>
  reports: SimReports
  /** Sends the appends of steps to output streams. Absent in seeds without them. */
  appends?: SimAppends | undefined
}

/** An invoke in flight. */
interface Flight {
  call: InvokeCall
  runner: SimRunner
  pass: Pass
  ended: boolean
  /** The highest seq of a report over HTTP that was sent. */
  sentSeq: number
  /** Their receipts, by seq. */
  receipts: Map<number, string>
  /** Executions of the pass whose appends were sent, or that write nothing. */
  appended: number
  /** Restarts the deadline. */
  renew(): void
}

type Told = 'goesOn' | 'done' | 'stop' | 'useless'

/** Nothing is running, and nothing new was started. */
const STOPPED: InvokeReply = { kind: 'answered', status: 206, body: '{"opcodes":[],"logs":[]}' }

const GARBAGE: readonly Answer[] = [
  { status: 200, body: '' },
  { status: 200, body: '<html>' },
  { status: 200, body: '[]' },
  { status: 206, body: '{"data":1}' },
  { status: 206, body: '{"opcodes":{}}' },
  { status: 206, body: '{"opcodes":[{"op":"Dance","id":"a","name":"a"}]}' },
  { status: 206, body: '{"opcodes":[],"logs":[]}' },
  { status: 302, body: '' },
  { status: 503, body: 'no healthy upstream' },
]

export class SimTransport implements Transport {
  readonly #deps: SimTransportDeps

  constructor(deps: SimTransportDeps) {
    this.#deps = deps
  }

  async invoke(call: InvokeCall): Promise<InvokeReply> {
    const { clock, life, underWay, faults, runners, trace } = this.#deps
    clock.activity.sign()
    if (call.signal.aborted) return { kind: 'aborted' }
    if (!life.alive) return never()
    const runner = runners.get(call.url)
    if (!runner?.up || faults.strikes('refused')) {
      await clock.wait(1)
      trace.add(`engine ${life.no} is refused by ${call.url} for ${(JSON.parse(call.body) as InvokeRequest).ctx.runId}`)
      return life.dead ? never() : { kind: 'refused', message: 'refused' }
    }
    const pass = this.#send(call, runner)
    underWay.add(pass)
    const reply = await this.#reply(call, runner, pass)
    underWay.delete(pass)
    clock.activity.sign()
    trace.add(`engine ${life.no} pass ${pass.no} of ${pass.request.ctx.runId}: ${describeReply(reply)}`)
    return life.dead ? never() : reply
  }

  async close(): Promise<void> {}

  #send(call: InvokeCall, runner: SimRunner): Pass {
    const { clock, runnerRecord, life, tap, trace, underWay } = this.#deps
    const request = JSON.parse(call.body) as InvokeRequest
    const { namespace } = runner.deps
    const pass = runnerRecord.sent({
      engine: life.no,
      namespace,
      request,
      sentAt: clock.now(),
      timeoutMs: call.timeoutMs,
    })
    trace.add(
      `engine ${life.no} sends pass ${pass.no} of ${request.ctx.runId} (${Object.keys(request.steps).length} known, attempt ${request.ctx.attempt}) to ${runner.deps.runnerId}`,
    )
    tap.sent(pass, runner, underWay)
    return pass
  }

  /** Resolves at the answer, the break, the deadline or the abort, whichever comes first. */
  #reply(call: InvokeCall, runner: SimRunner, pass: Pass): Promise<InvokeReply> {
    const { clock, faults } = this.#deps
    const now = clock.now()
    return new Promise(resolve => {
      let cancelDeadline = () => {}
      const end = (reply: InvokeReply) => {
        flight.ended = true
        pass.endedAt ??= clock.now()
        cancelDeadline()
        call.signal.removeEventListener('abort', onAbort)
        resolve(reply)
      }
      const renew = () => {
        cancelDeadline()
        if (flight.ended) return
        const deadline = clock.now() + call.timeoutMs
        cancelDeadline = clock.at(deadline, () => end({ kind: 'broken', message: 'deadline' }))
      }
      const flight: Flight = { call, runner, pass, ended: false, sentSeq: 0, receipts: new Map(), appended: 0, renew }
      call.onDeadline?.(renew)
      const onAbort = () => end({ kind: 'aborted' })
      renew()
      call.signal.addEventListener('abort', onAbort)
      const { arrivesAt, answersAt } = this.#times(now)
      if (faults.strikes('brokenBefore')) {
        clock.at(arrivesAt, () => end({ kind: 'broken', message: 'reset' }))
        return
      }
      clock.at(arrivesAt, () => {
        // The sender gave up while the request was on its way. Half of such requests never arrive.
        if (call.signal.aborted && this.#deps.rng.chance(0.5)) return
        if (faults.strikes('checkpoints')) void this.#checkpointed(flight).then(end)
        else if (faults.strikes('httpCheckpoints')) void this.#reporting(flight).then(end)
        else this.#answerAt(answersAt, flight, end)
      })
    })
  }

  #answerAt(time: number, flight: Flight, end: (reply: InvokeReply) => void): void {
    const { clock, faults } = this.#deps
    const reply = this.#execute(flight.runner, flight.pass)
    const broken = faults.strikes('brokenAfter')
    const answer = () => end(broken ? { kind: 'broken', message: 'reset' } : reply)
    const appending = this.#appends(flight)
    if (!appending) return void clock.at(time, answer)
    void appending.then(isTaken => {
      if (isTaken) clock.at(Math.max(time, clock.now()), answer)
      else end({ kind: 'aborted' })
    })
  }

  /** Sends the appends of the executions since the last call. Undefined if there are none; false when the pass is over. */
  #appends(flight: Flight): Promise<boolean> | undefined {
    const { appends } = this.#deps
    const { call, pass } = flight
    const executions = pass.executions.slice(flight.appended)
    flight.appended = pass.executions.length
    if (!appends?.write(executions)) return undefined
    const append = async (payload: string) => {
      const ack = flight.ended ? undefined : await call.onCheckpoint?.(payload)
      if (ack !== undefined) flight.renew()
      return ack
    }
    return appends.send({ pass, append }, executions)
  }

  /** Plays a pass that sends checkpoints one after the other until it ends, breaks or is stopped. */
  async #checkpointed(flight: Flight): Promise<InvokeReply> {
    const { clock, faults } = this.#deps
    const stream = faults.stream('checkpoints')
    for (let seq = 1; !flight.ended && stream.chance(0.85); seq++) {
      const result = await this.#checkpoint(flight, seq)
      if (result === 'useless') return { kind: 'aborted' }
      await clock.wait(stream.int(1, 30))
      if (result === 'stop') return STOPPED
      if (result === 'done') break
      if (faults.strikes('brokenAfter')) return { kind: 'broken', message: 'reset' }
    }
    return new Promise(resolve => this.#answerAt(clock.now() + stream.int(1, 5), flight, resolve))
  }

  /** A pass that reports over HTTP until it ends, breaks or is stopped. It ends with the steps that are not known to be stored. */
  async #reporting(flight: Flight): Promise<InvokeReply> {
    const { clock, faults } = this.#deps
    const stream = faults.stream('httpCheckpoints')
    while (!flight.ended && stream.chance(0.85)) {
      const report = flight.runner.checkpoint(flight.pass, flight.sentSeq + 1, clock.now())
      // These steps write nothing, because their appends would come over HTTP too.
      flight.appended = flight.pass.executions.length
      if (!report) break
      if (faults.strikes('answerFirst')) {
        void this.#deps.reports.report(flight, report)
        await clock.wait(stream.int(0, 20))
        return reported(report)
      }
      if (faults.strikes('reportsTogether')) {
        const parts = halves(report)
        const answers = await Promise.all(parts.map(part => this.#deps.reports.report(flight, part)))
        const left = parts.filter((_, i) => typeof answers[i] === 'string')
        // The receipts do not show which part settled first, so the handler gets the results from the next memo.
        return left.length > 0 ? reported(...left) : STOPPED
      }
      const outcome = await this.#reported(flight, report)
      if (outcome === undefined) return reported(report)
      await clock.wait(stream.int(1, 30))
      if (outcome === 'stop') return STOPPED
      if (faults.strikes('brokenAfter')) return { kind: 'broken', message: 'reset' }
    }
    return new Promise(resolve => this.#answerAt(clock.now() + stream.int(1, 5), flight, resolve))
  }

  /** Reports steps over HTTP. Undefined without a receipt. */
  async #reported(flight: Flight, report: Checkpoint): Promise<'goesOn' | 'stop' | undefined> {
    const { tap, reports } = this.#deps
    const ack = await reports.report(flight, report)
    if (typeof ack === 'string') return undefined
    flight.runner.acked(flight.pass, report, ack)
    tap.acknowledged(flight.pass, ack)
    return ack.stop ? 'stop' : 'goesOn'
  }

  async #checkpoint(flight: Flight, seq: number): Promise<Told> {
    const { call, runner, pass } = flight
    const { clock, faults, life, tap, trace } = this.#deps
    const report = runner.checkpoint(pass, seq, clock.now())
    if (!report || !call.onCheckpoint) return 'done'
    if ((await this.#appends(flight)) === false) return 'useless'
    const payload = JSON.stringify(report)
    trace.add(`pass ${pass.no} of ${pass.request.ctx.runId} checkpoints ${payload.slice(0, 300)}`)
    if (life.dead) return never()
    let answer = await call.onCheckpoint(payload)
    // The first ack was lost on its way.
    if (answer !== undefined && faults.strikes('repeatedCheckpoints')) answer = await call.onCheckpoint(payload)
    clock.activity.sign()
    trace.add(`engine ${life.no} answers pass ${pass.no}: ${answer?.slice(0, 300)}`)
    if (answer === undefined) return 'useless'
    flight.renew()
    const ack = JSON.parse(answer) as CheckpointAck
    runner.acked(pass, report, ack)
    tap.acknowledged(pass, ack)
    return ack.stop ? 'stop' : 'goesOn'
  }

  #times(now: number): { arrivesAt: number; answersAt: number } {
    const { faults, rng } = this.#deps
    const arrivesAt = now + rng.int(1, 5)
    let worksMs = rng.int(1, 20)
    if (faults.strikes('slowRunner')) worksMs = faults.stream('slowRunner').int(100, 4000)
    if (faults.strikes('stalledRunner')) worksMs = faults.stream('stalledRunner').int(8000, 70_000)
    // The work happens at one moment; another draw decides whether the stall comes before or after it.
    return rng.chance(0.5)
      ? { arrivesAt, answersAt: arrivesAt + worksMs }
      : { arrivesAt: arrivesAt + worksMs, answersAt: arrivesAt + worksMs + 1 }
  }

  #execute(runner: SimRunner, pass: Pass): InvokeReply {
    const { clock, faults } = this.#deps
    const error = (status: number): InvokeReply => ({
      kind: 'answered',
      status,
      body: JSON.stringify({ error: { message: `status ${status}` }, logs: [] }),
    })
    if (faults.strikes('serverErrorBefore')) return error(500)
    if (faults.strikes('rejected')) return error(faults.stream('rejected').pick([400, 404, 422, 429]))
    const answer = runner.answer(pass, clock.now())
    if (faults.strikes('serverErrorAfter')) return error(502)
    if (faults.strikes('tooLarge')) return { kind: 'tooLarge' }
    if (faults.strikes('garbage')) return { kind: 'answered', ...faults.stream('garbage').pick(GARBAGE) }
    return { kind: 'answered', ...answer }
  }
}

/** The answer of a pass that carries the steps of these reports. */
function reported(...reports: readonly Checkpoint[]): InvokeReply {
  const opcodes = reports.flatMap(report => report.opcodes)
  const logs = reports.flatMap(report => report.logs)
  return { kind: 'answered', status: 206, body: JSON.stringify({ opcodes, logs }) }
}

/** Splits a report of several steps in two. Either part may arrive first, so opcodes that repeat others are left out. */
function halves({ seq, opcodes: all, logs }: Checkpoint): Checkpoint[] {
  const opcodes = all.filter(({ id }, i) => all.findIndex(one => one.id === id) === i)
  if (opcodes.length < 2) return [{ seq, opcodes: all, logs }]
  const middle = opcodes.length >> 1
  return [
    { seq, opcodes: opcodes.slice(0, middle), logs },
    { seq: seq + 1, opcodes: opcodes.slice(middle), logs: [] },
  ]
}

function describeReply(reply: InvokeReply): string {
  return reply.kind === 'answered' ? `${reply.status} ${reply.body.slice(0, 300)}` : reply.kind
}
