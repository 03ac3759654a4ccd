// A fake of one namespace's reads, for the tests of routes: it holds what a test puts there and remembers what it was asked.

import type { RunStatusFrame } from '../domain/model/change.ts'
import type { ControlAction } from '../domain/model/control-action.ts'
import type { Event } from '../domain/model/event.ts'
import type { LogLine } from '../domain/model/log-line.ts'
import type { Step } from '../domain/model/step.ts'
import type { StoredFrame } from '../domain/view/timeline-frames.ts'
import type {
  ControlQuery,
  DeliveryPage,
  EndpointStats,
  EventQuery,
  PositionedEvent,
  Reads,
  RunCounts,
  RunQuery,
  RunStatsQuery,
  RunView,
} from '../ports/store-reads.ts'

/** What the fake store holds of one namespace. */
export class Shelf implements Reads {
  readonly runRows = new Map<string, RunView>()
  readonly eventRows: PositionedEvent[] = []
  readonly stepRows: Step[] = []
  readonly logRows: LogLine[] = []
  readonly controlRows: ControlAction[] = []
  readonly frames: StoredFrame[] = []
  counts: RunCounts = {
    queued: 0,
    running: 0,
    waiting: 0,
    paused: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
  }
  /** Every call, in order: `[method, ...arguments]`. */
  readonly calls: unknown[][] = []
  /** Set to make the next timeline read fail. */
  timelineError: Error | undefined

  async run(id: string): Promise<RunView | undefined> {
    this.calls.push(['run', id])
    return this.runRows.get(id)
  }

  async status(id: string): Promise<RunStatusFrame | undefined> {
    this.calls.push(['status', id])
    const run = this.runRows.get(id)
    return run && { seq: 1, ts: run.createdAt, status: run.status, attempt: run.attempt }
  }

  async runs(query: RunQuery, _signal?: AbortSignal): Promise<RunView[]> {
    this.calls.push(['runs', query])
    const { after } = query
    return [...this.runRows.values()]
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .filter(run => (!after || run.id < after.id) && (!query.app || run.app === query.app))
      .slice(0, query.limit)
  }

  async stats(query: RunStatsQuery): Promise<RunCounts> {
    this.calls.push(['stats', query])
    return this.counts
  }

  async heldBefore(): Promise<number> {
    return 0
  }

  async firstInStartQueue(): Promise<undefined> {
    return undefined
  }

  async steps(runId: string): Promise<Step[]> {
    return this.stepRows.filter(step => step.runId === runId)
  }

  async logs(runId: string, query: { from: number; limit: number }): Promise<LogLine[]> {
    this.calls.push(['logs', runId, query])
    return this.logRows.filter(line => line.runId === runId && line.seq > query.from).slice(0, query.limit)
  }

  async timeline(runId: string, query: { after: number; limit: number; openFrom: number }) {
    this.calls.push(['timeline', runId, { ...query }])
    if (this.timelineError) throw this.timelineError
    const all = this.frames.filter(frame => frame.runId === runId)
    const rest = all.filter(frame => frame.seq > query.after)
    const frames = rest.slice(0, query.limit)
    const moves = all.flatMap(frame => (frame.kind === 'run_status' ? frame.status : []))
    const status = moves.at(-1) ?? this.runRows.get(runId)?.status
    return { status, frames, openFrom: query.openFrom + 1, more: rest.length > frames.length }
  }

  async event(id: string): Promise<Event | undefined> {
    return this.eventRows.find(row => row.event.id === id)?.event
  }

  async events(query: EventQuery): Promise<PositionedEvent[]> {
    this.calls.push(['events', query])
    const { before = Number.POSITIVE_INFINITY } = query
    return this.eventRows
      .filter(row => row.position < before)
      .sort((a, b) => b.position - a.position)
      .slice(0, query.limit)
  }

  async delivery(): Promise<undefined> {}

  async deliveries(): Promise<DeliveryPage> {
    return { deliveries: [], more: false }
  }

  async endpointStats(): Promise<EndpointStats[]> {
    return []
  }

  async schedules(): Promise<never> {
    throw new Error('routes leave it to the registry service')
  }

  async replayable(): Promise<never> {
    throw new Error('routes leave it to the control service')
  }

  async controlActions(query: ControlQuery): Promise<ControlAction[]> {
    this.calls.push(['controlActions', query])
    return this.controlRows
  }
}
