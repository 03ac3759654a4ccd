// The concurrency limits and throttles that hold runs back, as `GET /limits` shows them (docs/flow-control.md#why-does-it-wait).
// The rows come from the reads of the store.

import { heldSlots } from '../holds/kept-slots.ts'
import { presentConcurrency, presentThrottle } from '../holds/operator-limits.ts'
import { named, presentLimit, slotScope } from '../holds/slot-ids.ts'
import type { ConcurrencyScope } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'

/** Maximum runs that are counted, over all limits. */
export const LIMIT_RUNS_COUNTED_MAX = 10_000
/** Maximum ended runs of each status, the newest, from which the rate of freed slots is computed. */
export const LIMIT_ENDS_COUNTED_MAX = 2000
/** The time span of these ends. */
export const RELEASE_WINDOW_MS = 600_000
const MINUTE_MS = 60_000
/** Maximum holders of a limit that are named. */
const HOLDERS_MAX = 10

/** The fields of a run from which its limits are read. */
export type LimitedRun = Pick<
  Run,
  'namespace' | 'id' | 'app' | 'workflow' | 'status' | 'holds' | 'startedAt' | 'leaseOwner' | 'leasedWithoutSlots'
>

/** The runs that wait for one slot, or in one start queue. */
export interface HeldRuns {
  /** The id of the slot or the throttle. */
  id: string
  waiting: number
  oldestAt: number
  /** When the next start of a throttle is free. */
  nextAt?: number
  /** One of them. */
  sample: LimitedRun
}

/** A live run with a singleton key. */
export type SingletonRun = Pick<Run, 'id' | 'app' | 'workflow' | 'createdAt' | 'startedAt'> & { singletonKey: string }

/** How many of the ended runs of one status had each slot. */
export interface SlotEnds {
  bySlot: ReadonlyMap<string, number>
  /** When the oldest of them ended, if only the newest were looked at. */
  oldestAt?: number
}

/** All data from which limits are made. */
export interface LimitRows {
  holders: LimitedRun[]
  forSlots: HeldRuns[]
  forStarts: HeldRuns[]
  ends: SlotEnds[]
  /** Whether more runs wait than were counted. */
  isPart: { forSlots: boolean; forStarts: boolean }
}

interface Limit {
  scope: ConcurrencyScope
  app?: string
  workflow?: string
  key?: string
  limit: number
  oldestAt?: number
}

export interface ConcurrencyLimitNow extends Limit {
  kind: 'concurrency'
  /** Runs keep their slots until they end. */
  hold?: 'run'
  held: number
  waiting: number
  /** Not all waiting runs were counted: the number is a lower bound. */
  isPart: boolean
  /** How many runs with a slot end in a minute. */
  releasedPerMin: number
  holders: LimitedRun[]
}

export interface ThrottleNow extends Limit {
  kind: 'throttle'
  periodMs: number
  inLine: number
  isPart: boolean
  nextStartAt?: number
}

export type LimitNow = ConcurrencyLimitNow | ThrottleNow

/** The limits that runs hold or wait for, those with the most waiting runs first. */
export function limitsOf(
  rows: LimitRows,
  { now, workflowOf }: { now: number; workflowOf(run: LimitedRun): Workflow | undefined },
): LimitNow[] {
  const slots = new Map<string, ConcurrencyLimitNow>()
  const slotOf = (run: LimitedRun, id: string): ConcurrencyLimitNow | undefined => {
    const slot = run.holds?.slots?.find(slot => slot.id === id)
    if (!slot) return undefined
    const known = slots.get(id)
    if (known) return known
    const { key } = slot
    const workflow = workflowOf(run)
    const limit = presentLimit(run, slot, workflow && presentConcurrency(workflow))
    const isPart = rows.isPart.forSlots
    const made: ConcurrencyLimitNow = {
      ...{ kind: 'concurrency', ...slotScope(run, slot), ...named(key), limit, ...(slot.kept ? { hold: 'run' } : {}) },
      ...{ held: 0, waiting: 0, isPart, releasedPerMin: releasedPerMin(id, rows.ends, now), holders: [] },
    }
    slots.set(id, made)
    return made
  }
  for (const run of rows.holders) {
    for (const { id } of heldSlots(run)) {
      const slot = slotOf(run, id)
      if (!slot) continue
      slot.held++
      if (slot.holders.length < HOLDERS_MAX) slot.holders.push(run)
    }
  }
  for (const { id, waiting, oldestAt, sample } of rows.forSlots) {
    const slot = slotOf(sample, id)
    if (slot) Object.assign(slot, { waiting, oldestAt })
  }
  const throttles = rows.forStarts.flatMap(held =>
    throttleOf(held, rows.isPart.forStarts, presentThrottle(workflowOf(held.sample))),
  )
  return [...slots.values(), ...throttles].sort((a, b) => waitingFor(b) - waitingFor(a) || heldOf(b) - heldOf(a))
}

/** Rounded to two decimals. */
function releasedPerMin(slotId: string, ends: readonly SlotEnds[], now: number): number {
  let perMin = 0
  for (const { bySlot, oldestAt } of ends) {
    const spanMs = oldestAt === undefined ? RELEASE_WINDOW_MS : Math.max(1, now - oldestAt)
    perMin += ((bySlot.get(slotId) ?? 0) * MINUTE_MS) / spanMs
  }
  return Math.round(perMin * 100) / 100
}

function throttleOf(
  { sample, waiting, oldestAt, nextAt }: HeldRuns,
  isPart: boolean,
  ofOperator: number | undefined,
): ThrottleNow[] {
  const throttle = sample.holds?.throttle
  if (!throttle) return []
  const { limit: registered, periodMs, key } = throttle
  const limit = ofOperator ?? registered
  const { app, workflow } = sample
  const next = nextAt === undefined || limit === 0 ? {} : { nextStartAt: nextAt }
  const scope = { scope: 'workflow', app, workflow } as const
  return [{ kind: 'throttle', ...scope, ...named(key), limit, periodMs, inLine: waiting, isPart, oldestAt, ...next }]
}

const waitingFor = (limit: LimitNow) => (limit.kind === 'throttle' ? limit.inLine : limit.waiting)
const heldOf = (limit: LimitNow) => (limit.kind === 'throttle' ? 0 : limit.held)
