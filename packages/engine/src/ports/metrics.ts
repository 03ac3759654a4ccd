// The Metrics port: services report each occurrence to it. Current values (how many passes are under way, how late a lane is)
// are not counted; they are read on each scrape (services/admin/gauges).

import type { TERMINAL_STATUSES } from '@perdure/protocol'
import type { DeliveryOutcome } from '../domain/model/delivery.ts'
import type { RunKind } from '../domain/model/run.ts'
import type { Lane, StoreStats } from './store.ts'

/** The result of one invoke: an outcome, or a reply without an outcome. */
export const INVOKE_OUTCOMES = [
  'returned',
  'opcodes',
  'rejected',
  'transport_failed',
  'refused',
  'engine_refused',
  'aborted',
] as const
export type InvokeOutcome = (typeof INVOKE_OUTCOMES)[number]
export const INVOKE_TRANSPORTS = ['http', 'connect'] as const
export type EndedRunStatus = (typeof TERMINAL_STATUSES)[number]
export const ENDED_DELIVERY_STATUSES = ['succeeded', 'exhausted', 'dead'] as const
export type EndedDeliveryStatus = (typeof ENDED_DELIVERY_STATUSES)[number]

/** The labels under which a run is counted. */
export interface RunLabels {
  namespace: string
  app: string
  workflow: string
}

/** Called for every event and every pass, so each call does only a few additions. */
export interface Metrics {
  /** An event, sent or emitted, is durable. */
  eventAccepted(): void
  runStarted(of: RunLabels, kind: RunKind): void
  runEnded(of: RunLabels, end: { kind: RunKind; status: EndedRunStatus }): void
  invoked(invoke: { transport: (typeof INVOKE_TRANSPORTS)[number]; outcome: InvokeOutcome; durationMs: number }): void
  /** A checkpoint of a pass is durable. */
  checkpointTaken(): void
  /** One POST of a delivery was concluded. */
  deliveryAttempted(outcome: DeliveryOutcome): void
  deliveryEnded(status: EndedDeliveryStatus): void
  /** The lease of a run that was under way on this engine was lost. */
  leaseLost(): void
}

/** The current values of one lane. */
export interface LaneGauge {
  lane: Lane
  underWay: number
  /** How long the oldest due row has waited; 0 when no row is due. Absent: the store did not answer. */
  lagMs?: number
  /** When the oldest due row became due, epoch ms. */
  oldestReadyAt?: number
}

/** The maximum bytes for work under way, the bytes in use, and how many items of work wait for memory. */
export interface MemoryGauges {
  runs: { max: number; used: number; waiting: number }
  messages: { max: number; used: number; waiting: number }
}

/** The current values of the engine. */
export interface Gauges {
  lanes: LaneGauge[]
  /** Events and starts that wait to be accepted. */
  acceptsWaiting: number
  /** Number of registered sockets of Connect runners. */
  sockets: number
  streams: { run: number; runs: number; events: number; topics: number }
  dependencies: Record<string, 'ok' | 'unavailable'>
  draining: boolean
  held: boolean
  memory: MemoryGauges
  /** How many numbers an in-memory limiter keeps. */
  limiterEntries?: number | undefined
  /** Runs for which no runner could be reached, by app of one namespace. Absent: the store did not answer. */
  withoutRunner?: { app: string; runs: number }[] | undefined
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
