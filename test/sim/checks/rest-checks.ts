// Checks that nothing is left to do. Without faults and with nothing due, nothing is leased or scheduled, and a run that has not
// ended waits for something from outside.

import type { Bounds } from '../../../packages/engine/src/compose/engine.ts'
import { ensure } from '../core/violation.ts'
import { isEnded, type RunRecord, waitsForSlot } from './record.ts'

/** Ample without faults, and far below the interval at which lanes look for work on their own. */
const PROMPT_MS = 3000

export function checkAtRest(records: Iterable<RunRecord>): void {
  for (const { id, run, steps } of records) {
    if (run === undefined || isEnded(run) || waitsForSlot(run)) continue
    const detail = () => `${JSON.stringify(run)} with ${JSON.stringify(steps)}`
    ensure(run.leaseOwner === undefined && run.availableAt === undefined, 'at rest nothing is leased or due', detail, [
      id,
    ])
    ensure(run.status === 'paused' || run.status === 'waiting', 'at rest a run has ended, waits or is paused', detail, [
      id,
    ])
  }
}

/** With every event sent and every pause resumed, every run ends. */
export function checkAllEnded(records: Iterable<RunRecord>): void {
  for (const { id, run, steps } of records) {
    const detail = () => `${JSON.stringify(run)} with ${JSON.stringify(steps)}`
    ensure(isEnded(run), 'in the end every run ends', detail, [id])
  }
}

/** An idle engine requests as many rows as it can ever process, so no slot is held and none was released twice. */
export function checkSlots(lastRequested: ReadonlyMap<string, number>, engine: number, bounds: Bounds): void {
  const { passesMax, deliveriesMax, timersMax } = bounds
  for (const [lane, max] of Object.entries({
    runs: passesMax,
    deliveries: deliveriesMax,
    timers: timersMax,
  })) {
    const requested = lastRequested.get(`${engine} ${lane}`)
    ensure(requested === max, 'at rest all slots are free', () => `${lane}: ${requested} of ${max}`)
  }
}

/** No lane waits for its periodic look, because whatever made a run due has woken its lane. */
export function checkPrompt(records: Iterable<RunRecord>, now: number): void {
  for (const { id, run } of records) {
    const isDue = run?.availableAt !== undefined && run.leaseOwner === undefined && !waitsForSlot(run)
    const overdueMs = isDue ? now - (run.availableAt as number) : 0
    ensure(overdueMs < PROMPT_MS, 'what is due is driven at once', () => `${overdueMs} ms: ${JSON.stringify(run)}`, [
      id,
    ])
  }
}
