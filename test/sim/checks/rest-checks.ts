// Quiescence: with no more faults and nothing due, nothing is leased or scheduled, and what has not ended waits for
// something that only the outside world can give.

import type { Bounds } from '../../../packages/engine/src/compose.ts'
import { ensure } from '../core/violation.ts'
import { isEnded, type RunRecord } from './record.ts'

/** Ample without faults, and far below the pause between two looks. */
const PROMPT_MS = 3000

export function checkAtRest(records: Iterable<RunRecord>): void {
  for (const { id, run, steps } of records) {
    if (run === undefined || isEnded(run)) continue
    const tell = () => `${JSON.stringify(run)} with ${JSON.stringify(steps)}`
    ensure(
      run.leaseOwner === undefined && run.availableAt === undefined,
      'at rest nothing is leased or due',
      tell,
      [id],
    )
    ensure(
      run.status === 'paused' || run.status === 'waiting',
      'at rest a run has ended, waits or is paused',
      tell,
      [id],
    )
  }
}

/** With every event sent and every pause lifted there is no reason left. */
export function checkAllEnded(records: Iterable<RunRecord>): void {
  for (const { id, run, steps } of records) {
    const tell = () => `${JSON.stringify(run)} with ${JSON.stringify(steps)}`
    ensure(isEnded(run), 'in the end every run ends', tell, [id])
  }
}

/** C2: an engine at rest asks for as much as it could ever take: no slot is held, none was given back twice. */
export function checkSlots(lastAsked: ReadonlyMap<string, number>, engine: number, bounds: Bounds): void {
  const { passesMax, deliveriesMax, timersMax } = bounds
  for (const [lane, max] of Object.entries({
    runs: passesMax,
    deliveries: deliveriesMax,
    timers: timersMax,
  })) {
    const asked = lastAsked.get(`${engine} ${lane}`)
    ensure(asked === max, 'at rest all slots are free', () => `${lane}: ${asked} of ${max}`)
  }
}

/** Nobody waits for the lanes' next look around: whoever made a run due has rung the bell. */
export function checkPrompt(records: Iterable<RunRecord>, now: number): void {
  for (const { id, run } of records) {
    const overdueMs =
      run?.availableAt === undefined || run.leaseOwner !== undefined ? 0 : now - run.availableAt
    ensure(
      overdueMs < PROMPT_MS,
      'what is due is driven at once',
      () => `${overdueMs} ms: ${JSON.stringify(run)}`,
      [id],
    )
  }
}
