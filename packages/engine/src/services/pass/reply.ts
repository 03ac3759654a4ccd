// Reads the reply to an invoke. The reply is an outcome of the pass, or shows that the runner took no part in the pass. Called
// by invoke.ts.

import { ENGINE_REFUSED, RESPONSE_BYTES_MAX } from '@perdure/protocol'
import { isConnectUrl } from '../../domain/model/connect-url.ts'
import type { Negotiated } from '../../domain/pass/answer/opcodes.ts'
import {
  type Outcome,
  readAnswer,
  readForeignAnswer,
  refusalOfEngine,
  responseTooLarge,
  transportFailed,
} from '../../domain/pass/answer/outcome.ts'
import type { InvokeOutcome } from '../../ports/metrics.ts'
import type { InvokeReply } from '../../ports/transport.ts'

/** The reply of a transport, or the refusal of a runner that could not verify this engine's signature. */
export type Reply = InvokeReply | { kind: typeof ENGINE_REFUSED; message: string }

/** A reply, and what it means for the pass. */
export interface Judged {
  reply: Reply
  outcome: Outcome | 'refused' | 'aborted'
}

/** Separates refusals of the engine from answers: a refusal says nothing about the run. */
export function withoutVerdict(reply: InvokeReply): Reply {
  if (!isOfRunner(reply)) return reply
  const message = refusalOfEngine(reply.status, reply.body)
  return message === undefined ? reply : { kind: ENGINE_REFUSED, message }
}

export function isOfRunner<R extends Reply>(reply: R): reply is R & { kind: 'answered' } {
  return reply.kind === 'answered' && !reply.isForeign
}

export function outcomeOf(
  reply: Reply,
  from: { negotiated: Negotiated; url: string },
): Outcome | 'refused' | 'aborted' {
  switch (reply.kind) {
    case 'answered':
      if (reply.isForeign) return readForeignAnswer(reply.status, reply.body, from.url)
      return readAnswer(reply.status, reply.body, from)
    case 'broken':
      return transportFailed(withAddress(reply.message, from.url))
    case 'tooLarge':
      return responseTooLarge(RESPONSE_BYTES_MAX)
    case ENGINE_REFUSED:
      return 'refused'
    case 'refused':
    case 'aborted':
      return reply.kind
  }
}

/** The message with the called address. A Connect runner has no address. */
export function withAddress(message: string, url: string): string {
  return isConnectUrl(url) ? message : `${url}: ${message}`
}

/** The error that prevented the pass; undefined if the runner answered it or has no room. */
export function failureOf({ reply, outcome }: Judged, url: string): string | undefined {
  if (reply.kind === ENGINE_REFUSED) return withAddress(reply.message, url)
  if (reply.kind === 'refused') return reply.isFull ? undefined : withAddress(reply.message, url)
  return typeof outcome !== 'string' && outcome.kind === 'transportFailed' ? outcome.error.message : undefined
}

/** The outcome as metrics count it. */
export function countedAs({ reply, outcome }: Judged): InvokeOutcome {
  if (reply.kind === ENGINE_REFUSED) return ENGINE_REFUSED
  if (typeof outcome === 'string') return outcome
  return outcome.kind === 'transportFailed' ? 'transport_failed' : outcome.kind
}
