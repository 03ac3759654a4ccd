// Takes in requests that start work, a bounded number at a time, so that a flood of them leaves the event loop and the store to
// the passes of runs (docs/limits.md#senders-and-runs). Called by the routes of events, starts and inbound webhooks.

import type { FastifyReply } from 'fastify'
import { queuedShare } from '../../base/heap.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { type Caller, RequestPermits } from '../bounds/request-permits.ts'
import { HTTP_LIMITS, type HttpLimits } from '../request/limits.ts'
import type { HttpContext } from './context.ts'
import { whileConnected } from './scan.ts'

/** Most bytes of the waiting requests. */
const WAITING_BYTES_MAX = Math.min(256 * 1024 * 1024, queuedShare())
/** A large batch of events is stored in parts of this size, one after the other (services/event/ingest). */
const COUNT_MAX = 200

/** `isFull`: whether the engine drives its maximum of runs, so that new runs wait in the store. */
export function acceptancePermits(isFull: () => boolean, given?: Partial<HttpLimits>): RequestPermits {
  const limits = { ...HTTP_LIMITS, ...given }
  return new RequestPermits({
    max: () => (isFull() ? limits.fullAcceptsMax : limits.acceptsMax),
    waitingMax: { ...limits.acceptsWaitingMax, bytes: WAITING_BYTES_MAX },
    refusal: 'too many events and starts are waiting to be processed: try again later',
  })
}

export interface Accepting {
  /** Events in the request. */
  count?: number
  /** By default the actor of the request. */
  caller?: Caller
}

/** Carries out the work, which makes durable what the request starts, once few enough other requests are being taken in. */
export async function accept<T>(
  context: HttpContext,
  reply: FastifyReply,
  work: () => Promise<T>,
  { count = 1, caller = reply.request.actor }: Accepting = {},
): Promise<T> {
  const { acceptance } = context.deps
  const permits = Math.min(count, COUNT_MAX)
  if (!acceptance.tryTake(permits)) await waitForPermits(context, reply, { caller, count: permits })
  try {
    return await work()
  } finally {
    acceptance.giveBack(permits)
  }
}

function waitForPermits(context: HttpContext, reply: FastifyReply, accepting: Required<Accepting>): Promise<void> {
  const { deps, limits } = context
  const { 'content-length': length = limits.bodyMax } = reply.request.headers
  const take = (signal: AbortSignal) => deps.acceptance.take({ ...accepting, bytes: Number(length), signal })
  return whileConnected(context, reply, take, {
    timeoutMs: limits.acceptMs,
    refusal: () =>
      new EngineError(
        'overloaded',
        'the engine was too busy with other events and starts to process this request: try again later',
      ),
  })
}
