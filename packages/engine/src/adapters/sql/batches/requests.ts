// What is asked of a writer or reader and what it answers, as flat lists: one array per request crosses to a thread
// at a third of the cost of nested ones. Written by driver.ts, read by writer.ts and reader.ts.

import type { Claim, DeliveryClaim, Pruning } from '../../../ports/store.ts'
import type { Check, Op, Query, Value } from '../tables/operations.ts'

/** What is asked, then its values. */
export type Request = Value[]

/** Anything that can be posted; who asked knows the type. Failures are told apart by `failed`. */
export type Answer = unknown

export interface Failure {
  failed: string
  /** Not this request's fault: the disk is full, or somebody holds the database locked. */
  unavailable: boolean
}

export interface BatchAnswer {
  /** One for each request. */
  answers: Answer[]
  /** Durable transactions it took. */
  transactions: number
  /** Why nothing more can be done with this database, when that is so. */
  broken?: string
}

export function isFailure(answer: Answer): answer is Failure {
  return typeof answer === 'object' && answer !== null && 'failed' in answer
}

/** Answered with null, or with the index of a check that does not hold. */
export function unitRequest(unit: { checks: Check[]; ops: Op[] }): Request {
  const request: Request = ['unit', unit.checks.length]
  for (const { name, params, expected } of unit.checks) {
    request.push(name, params.length, expected.length)
    append(request, params)
    append(request, expected)
  }
  for (const op of unit.ops) {
    request.push(op.length - 1)
    append(request, op)
  }
  return request
}

/** Answered with the claimed runs. */
export function claimRunsRequest({ owner, now, leaseUntil, limit }: Claim): Request {
  return ['claim runs', owner, now, leaseUntil, limit]
}

/** What `claimRunsRequest` was made of. */
export function readClaim(request: Request): Claim {
  const [owner, now, leaseUntil, limit] = request.slice(1) as [string, number, number, number]
  return { owner, now, leaseUntil, limit }
}

/** Answered with the claimed rows. */
export function claimDeliveriesRequest(claim: DeliveryClaim): Request {
  const { owner, now, leaseUntil, limit, unnamed, room } = claim
  const request: Request = ['claim deliveries', owner, now, leaseUntil, limit, unnamed]
  for (const named of room) append(request, named)
  return request
}

/** Answered with the claimed rows. */
export function claimTimersRequest({ owner, now, leaseUntil, limit }: Claim): Request {
  return ['claim timers', owner, now, leaseUntil, limit]
}

/** What `claimDeliveriesRequest` was made of. */
export function readDeliveryClaim(request: Request): DeliveryClaim {
  const [owner, now, leaseUntil, limit, unnamed] = request.slice(1, 6) as [
    string,
    number,
    number,
    number,
    number,
  ]
  const room = new Map<string, number>()
  for (let i = 6; i < request.length; i += 2) room.set(request[i] as string, request[i + 1] as number)
  return { owner, now, leaseUntil, limit, unnamed, room }
}

/** Answered with the ids of lost leases. */
export function extendRequest(owner: string, runIds: readonly string[], until: number): Request {
  return ['extend', owner, until, ...runIds]
}

export function releaseRequest(owner: string, now: number): Request {
  return ['release', owner, now]
}

/** Answered with the number of rows that went. */
export function pruneRequest({ rows, before, limit }: Pruning): Request {
  return ['prune', rows, before, limit]
}

/** What `pruneRequest` was made of. */
export function readPruning(request: Request): Pruning {
  const [rows, before, limit] = request.slice(1) as [Pruning['rows'], number, number]
  return { rows, before, limit }
}

export function probeRequest(): Request {
  return ['probe']
}

/** Answered with the rows of each query. */
export function readRequest(queries: readonly Query[]): Request {
  const request: Request = []
  for (const { sql, params } of queries) {
    request.push(sql, params.length)
    append(request, params)
  }
  return request
}

/** Near enough what the request weighs on its way: its characters, and a word for each value. */
export function weightOf(request: Request): number {
  let weight = request.length * 8
  for (const value of request) if (typeof value === 'string') weight += value.length
  return weight
}

/** Not a spread: a unit can hold more values than a call takes arguments. */
function append(to: Request, values: readonly Value[]): void {
  for (const value of values) to.push(value)
}
