// Carries out a scan of the store for a request (ports/store-reads). The scan ends early when the client leaves, or when its
// time, counted from the arrival of the request, is over. Called by routes that search, count or list payloads.

import type { FastifyReply } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import type { HttpContext } from './context.ts'

export interface ScanBounds {
  /** Default: `scanMs` of the limits. */
  timeoutMs?: number
  /** The refusal of a scan that itself used up its time: what to narrow. Default: `overloaded`. */
  tooWide?: () => EngineError
}

export function scan<T>(
  context: Pick<HttpContext, 'deps' | 'limits'>,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs = context.limits.scanMs, tooWide = tookTooLong }: ScanBounds = {},
): Promise<T> {
  return whileConnected(context, reply, work, { timeoutMs, refusal: tooWide })
}

/** Carries out work that ends with the refusal after this time, or when the client disconnects. Also used by accept.ts. */
export async function whileConnected<T>(
  { deps: { clock } }: Pick<HttpContext, 'deps'>,
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, refusal }: { timeoutMs: number; refusal: () => EngineError },
): Promise<T> {
  const given = new AbortController()
  const cancelTimer = clock.after(timeoutMs, () => given.abort(refusal()))
  const leave = () => given.abort(new EngineError('overloaded', 'the client disconnected'))
  reply.raw.on('close', leave)
  try {
    return await work(given.signal)
  } finally {
    cancelTimer()
    reply.raw.off('close', leave)
  }
}

function tookTooLong(): EngineError {
  return new EngineError('overloaded', 'the store took too long to read this: try again later')
}
