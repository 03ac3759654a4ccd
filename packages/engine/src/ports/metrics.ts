// The Metrics port: what services count as it happens. Current values (how many passes are under way, how late a lane is)
// are not counted but read on each scrape (services/admin/gauges).

import type { DeliveryOutcome } from '../domain/model/delivery.ts'
import type { Lane, StoreStats } from './store.ts'

/** The result of one invoke: the kinds of outcome, and of replies without an outcome. */
export type InvokeOutcome = 'returned' | 'opcodes' | 'rejected' | 'transport_failed' | 'refused' | 'aborted'
export type EndedRunStatus = 'succeeded' | 'failed' | 'cancelled'
export type EndedDeliveryStatus = 'succeeded' | 'exhausted' | 'dead'

/** The labels under which a run is counted. */
export interface RunLabels {
  namespace: string
  app: string
  workflow: string
}

/** Called for every event and every pass, so each call is a few additions only. */
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
  /** The lease of a run that was under way here was lost. */
  leaseLost(): void
}

/** The current values of one lane. */
export interface LaneGauge {
  lane: Lane
  underWay: number
  /** How long the oldest due row has waited; 0 when none is due. Absent: the store did not answer. */
  lagMs?: number
  /** When the oldest due row became due, epoch ms. */
  oldestReadyAt?: number
}

/** The current values of the engine. */
export interface Gauges {
  lanes: LaneGauge[]
  /** Registered sockets of Connect runners. */
  sockets: number
  streams: { run: number; runs: number; events: number; topics: number }
  dependencies: Record<string, 'ok' | 'unavailable'>
  draining: boolean
  /** How many numbers a limiter in memory keeps. */
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
