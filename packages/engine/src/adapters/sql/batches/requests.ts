// Requests to a writer or a reader, and their answers: plain values that cross to another thread. Units and queries are flat
// lists, which cross at a third of the cost of nested ones.

import type { Claim, ClaimsOfWorkflow, DeliveryClaim, EndsToCount, Pruning, RunClaim } from '../../../ports/store.ts'
import type { Query, Value } from '../description/values.ts'

/**
 * A unit: its number of checks; for each check its name, the number of its parameters, the number of its expected values,
 * and those; then for each operation the number of its parameters, its name, and those. Answered with null, or with the
 * index of a check that does not hold.
 */
export type UnitRequest = Value[]

/** Queries: for each its SQL, the number of its parameters, and those. Answered with the rows of each. */
export type ReadRequest = Value[]

/** Other work of a writer. */
export type Task =
  | { type: 'claimRuns'; claim: RunClaim }
  | { type: 'claimDeliveries'; claim: DeliveryClaim }
  | { type: 'claimTimers'; claim: Claim }
  /** Answered with the ids of the runs whose lease was lost. */
  | { type: 'extendLeases'; owner: string; runIds: readonly string[]; until: number }
  | { type: 'releaseOthers'; owner: string; now: number }
  /** Answered with the number of rows that were removed. */
  | { type: 'prune'; pruning: Pruning }
  /** Answered with the number of claims that were removed. */
  | { type: 'dropClaims'; claims: ClaimsOfWorkflow }
  /** Answered with the number of ends that were counted. */
  | { type: 'countEnds'; ends: EndsToCount }
  /** Only if one process owns the store (sqlite/move-times.ts). */
  | { type: 'moveTimes'; by: number; now: number }
  | { type: 'wakeStranded'; now: number; until: number }
  /** Answered with the newest time of the store. */
  | { type: 'latestTime' }
  /** Writes a little, durably. */
  | { type: 'probe' }

export type Request = UnitRequest | ReadRequest | Task

export function isUnit(request: Request): request is UnitRequest {
  return Array.isArray(request)
}

/** Anything that can be posted; the submitter knows the type. Failures are recognised by `failed`. */
export type Answer = unknown

export interface Failure {
  failed: string
  /** Not this request's fault: for example, the disk is full, or another process holds the database locked. */
  unavailable: boolean
}

export interface BatchAnswer {
  /** One for each request, or only for the first ones: the rest are to be sent again in the next batch. */
  answers: Answer[]
  /** Durable transactions it took. */
  transactions: number
  /** Why the database can no longer be used, if so. */
  broken?: string
  /** The store no longer belongs to this engine; `broken` says why, and what to do. */
  isLost?: true
}

export function isFailure(answer: Answer): answer is Failure {
  return typeof answer === 'object' && answer !== null && 'failed' in answer
}

export function readRequest(queries: readonly Query[]): ReadRequest {
  const request: ReadRequest = []
  for (const { sql, params } of queries) request.push(sql, params.length, ...params)
  return request
}

/** The approximate size of a request on its way, in bytes: its characters, and 8 for each value. */
export function weightOf(request: Request): number {
  if (!isUnit(request)) return 8
  let weight = request.length * 8
  for (const value of request) if (typeof value === 'string') weight += value.length
  return weight
}
