// The Metrics port: what services count as it happens. What can be looked at any time (how many passes are under way,
// how late a lane is) is not counted but read when somebody asks (services/admin/gauges).

import type { DeliveryOutcome } from '../domain/model/delivery.ts'
import type { Lane, StoreStats } from './store.ts'

/** What came of one invoke: the kinds of an outcome, and of replies that led to none. */
export type InvokeOutcome = 'returned' | 'opcodes' | 'rejected' | 'transport_failed' | 'refused' | 'aborted'
export type EndedRunStatus = 'succeeded' | 'failed' | 'cancelled'
export type EndedDeliveryStatus = 'succeeded' | 'exhausted' | 'dead'

/** Whose run it is. */
export interface RunLabels {
  namespace: string
  app: string
  workflow: string
}

/** Every call is a few additions: they are made on the way of every event and every pass. */
export interface Metrics {
  /** An event, sent or emitted, is durable. */
  eventAccepted(): void
  runStarted(of: RunLabels): void
  runEnded(of: RunLabels, status: EndedRunStatus): void
  invoked(invoke: { transport: 'http' | 'connect'; outcome: InvokeOutcome; durationMs: number }): void
  /** A checkpoint of a pass is durable. */
  checkpointTaken(): void
  /** One POST of a delivery was concluded. */
  deliveryAttempted(outcome: DeliveryOutcome): void
  deliveryEnded(status: EndedDeliveryStatus): void
  /** The lease of a run under way here was lost to somebody else. */
  leaseLost(): void
}

/** What one lane is doing now. */
export interface LaneGauge {
  lane: Lane
  underWay: number
  /** How long the oldest row that is due has waited; 0 when none is. Absent: the store did not tell. */
  lagMs?: number
  /** When the oldest row that is due became so, epoch ms. */
  oldestReadyAt?: number
}

/** What the engine is doing now. */
export interface Gauges {
  lanes: LaneGauge[]
  /** Registered sockets of Connect runners. */
  sockets: number
  streams: { run: number; runs: number; events: number }
  dependencies: Record<string, 'ok' | 'unavailable'>
  draining: boolean
  /** Numbers that a limiter in memory keeps. */
  limiterEntries?: number | undefined
  store?: StoreStats | undefined
}

const nothing = (): void => {}

/** Counts nothing. */
export const NO_METRICS: Metrics = {
  eventAccepted: nothing,
  runStarted: nothing,
  runEnded: nothing,
  invoked: nothing,
  checkpointTaken: nothing,
  deliveryAttempted: nothing,
  deliveryEnded: nothing,
  leaseLost: nothing,
}
