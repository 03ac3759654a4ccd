// Runners that append to output streams while their steps run (docs/wire-protocol.md#output-streams): before a step is
// reported, its chunks are sent in several appends, with time between them in which engines die or are replaced. Some appends
// are sent twice.

import { STREAM_MARK } from '../../../packages/engine/src/ports/transport.ts'
import type { Faults } from '../core/faults.ts'
import type { Rng } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import type { Trace } from '../core/trace.ts'
import type { Execution, Pass } from '../workload/runner-record.ts'
import { appendsOf } from '../workload/streamed.ts'
import { type Life, never } from './life.ts'

export interface Appending {
  pass: Pass
  /** Makes an append durable. Undefined: the pass is over. */
  append(payload: string): Promise<string | undefined>
}

export interface SimAppendsDeps {
  clock: SimClock
  faults: Faults
  trace: Trace
  rng: Rng
  life: Life
}

interface Sent {
  stepId: string
  name: string
  seq: number
}

export class SimAppends {
  readonly #deps: SimAppendsDeps

  constructor(deps: SimAppendsDeps) {
    this.#deps = deps
  }

  /** Whether any of the executions writes chunks. */
  write(executions: readonly Execution[]): boolean {
    return executions.some(({ token }) => appendsOf(token).length > 0)
  }

  /** Sends the appends of concurrent executions. False: the pass is over, and the runner gives it up. */
  async send(flight: Appending, executions: readonly Execution[]): Promise<boolean> {
    const { clock, rng } = this.#deps
    const seqs = new Map<string, number>()
    const queues = executions.map(execution => ({ execution, left: [...appendsOf(execution.token)] }))
    for (const { execution } of queues) execution.hasStreamed = true
    while (queues.some(({ left }) => left.length > 0)) {
      const round = queues.flatMap(({ execution, left }) => {
        const next = left.shift()
        if (!next) return []
        const key = `${execution.stepId} ${next.stream}`
        const seq = (seqs.get(key) ?? 0) + 1
        seqs.set(key, seq)
        return [this.#append(flight, execution, { ...next, seq })]
      })
      if ((await Promise.all(round)).includes(false)) return false
      await clock.wait(rng.chance(0.1) ? rng.int(50, 2000) : rng.int(1, 20))
    }
    return true
  }

  async #append(
    flight: Appending,
    execution: Execution,
    { stream, chunks, seq }: { stream: string; chunks: readonly string[]; seq: number },
  ): Promise<boolean> {
    const { clock, faults, life, trace } = this.#deps
    const { request, no, reported } = flight.pass
    const { stepId } = execution
    const sent: Sent = { stepId, name: stream, seq }
    const payload = STREAM_MARK + JSON.stringify({ ...sent, step: reported.get(stepId)?.node.id, chunks })
    trace.add(`pass ${no} of ${request.ctx.runId} appends ${payload.slice(0, 300)}`)
    if (life.dead) return never()
    let ack = await flight.append(payload)
    // The first acknowledgement was lost on its way.
    if (ack !== undefined && faults.strikes('repeatedCheckpoints')) ack = await flight.append(payload)
    clock.activity.sign()
    trace.add(`engine ${life.no} answers the append of pass ${no}: ${ack}`)
    if (life.dead) return never()
    // The step was settled by hand, or the run has ended: nothing further is stored.
    if (ack === '' || (ack !== undefined && 'error' in JSON.parse(ack))) execution.isCut = true
    return ack !== undefined
  }
}
