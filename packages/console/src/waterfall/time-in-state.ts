// How long a run spent in each state: queued, running, paused, or waiting, split by the kind of wait. The frames of a run only
// have its status; its steps have the kind of wait.

import type { Bar, RunStatus, StatusFrame } from './model.ts'
import { sinceOrigin } from './model.ts'

/** The states in display order. */
export const STATES = ['queued', 'running', 'backing off', 'child', 'event', 'sleep', 'waiting', 'paused'] as const
export type StateName = (typeof STATES)[number]

export interface StateShare {
  state: StateName
  ms: number
  /** Share of the whole, 0 to 1. */
  part: number
}

export interface StateTimes {
  statuses: readonly StatusFrame[]
  bars: readonly Bar[]
  originMs: number
  /** The end of the run, or now, on the axis. */
  endMs: number
}

/** If several steps wait at the same time, the run counts as the first of these. */
const WAITS = ['backing off', 'child', 'event', 'sleep'] as const
type Wait = (typeof WAITS)[number]

/** Returns the states that took time, each with its share. Their sum is the age of the run. */
export function timeInState({ statuses, bars, originMs, endMs }: StateTimes): StateShare[] {
  const edges: Edge[] = statuses.map(({ ts, status }) => ({ ms: sinceOrigin(ts, originMs), status }))
  for (const bar of bars) addWaits(edges, bar, endMs)
  edges.sort((a, b) => a.ms - b.ms)
  const sums = new Map<StateName, number>()
  const waits: Record<Wait, number> = { 'backing off': 0, child: 0, event: 0, sleep: 0 }
  let status: RunStatus = 'queued'
  let at = 0
  for (const edge of [...edges, { ms: endMs }]) {
    const ms = Math.min(Math.max(edge.ms, at), endMs)
    const state = stateOf(status, waits)
    if (state !== undefined && ms > at) sums.set(state, (sums.get(state) ?? 0) + ms - at)
    at = ms
    if (edge.status !== undefined) status = edge.status
    if (edge.wait !== undefined) waits[edge.wait] += edge.by ?? 0
  }
  const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0)
  return STATES.flatMap(state => {
    const ms = sums.get(state)
    return ms === undefined ? [] : [{ state, ms, part: ms / Math.max(total, 1) }]
  })
}

/** A moment at which the run's status, or the number of waiting steps, changes. */
interface Edge {
  ms: number
  status?: RunStatus
  wait?: Wait
  by?: number
}

function addWaits(edges: Edge[], bar: Bar, endMs: number): void {
  for (const { kind, fromMs, toMs = endMs } of bar.segments) {
    const wait =
      kind === 'backoff' ? 'backing off' : kind === 'sleep' ? 'sleep' : kind === 'wait' ? waitOf(bar) : undefined
    if (wait === undefined) continue
    edges.push({ ms: fromMs, wait, by: 1 }, { ms: toMs, wait, by: -1 })
  }
}

const waitOf = (bar: Bar): Wait => (bar.op === 'RunWorkflow' ? 'child' : 'event')

function stateOf(status: RunStatus, waits: Record<Wait, number>): StateName | undefined {
  switch (status) {
    case 'queued':
    case 'running':
    case 'paused':
      return status
    case 'waiting':
      return WAITS.find(wait => waits[wait] > 0) ?? 'waiting'
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return undefined
  }
}
