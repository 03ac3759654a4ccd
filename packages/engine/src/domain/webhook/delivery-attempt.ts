// Decides the consequences of one POST of a webhook delivery: success, a retry, or the end of the delivery
// (docs/webhooks.md#deliveries). Called by services/webhook/deliver after every send; the schedule is the setting
// `ENGINE_WEBHOOK_SCHEDULE`.

import { parseTextMs, signWebhook } from '@perdure/protocol'
import type { Delivery, DeliveryAttempt, DeliveryOutcome } from '../model/delivery.ts'
import { invariant } from '../model/errors.ts'

/** The result of a send, as the Sender port reports it or the deliver service finds it. */
export type SendResult =
  | { kind: 'answered'; status: number; responseSnippet: string; retryAfterMs?: number; durationMs: number }
  | { kind: 'timeout' | 'connectionError'; error: string; durationMs: number }
  /** No connection was made: the address may not be called, or the endpoint is disabled or deleted. */
  | { kind: 'refusedAddress' | 'endpointOff'; error: string }
  /** Unknown: the engine that made the attempt stopped before it recorded the end. */
  | { kind: 'cutOff' }

/** Delays between the attempts: 8 attempts in all, over about a day. */
export const DEFAULT_DELIVERY_SCHEDULE_MS: readonly number[] = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000,
]

/** Maximum number of delays in a schedule: each stands for a stored attempt, and a longer schedule is surely a mistake. */
const DELIVERY_SCHEDULE_LENGTH_MAX = 100

/** The error of a logged attempt whose engine stopped before it recorded the end. */
export const CUT_OFF_ERROR = 'the engine stopped during this attempt'

const JITTER = 0.2
const GONE = 410
/** Answers below 500 that mean "try again later". */
const RETRIED_STATUSES: readonly number[] = [408, 425, 429]

export interface Conclusion {
  delivery: Delivery
  attempt: DeliveryAttempt
  /** The answer was 410: the endpoint wants no more deliveries. */
  isGone: boolean
}

interface SentDelivery {
  delivery: Delivery
  result: SendResult
  /** The headers of the post, if there was one. */
  headers?: Readonly<Record<string, string>> | undefined
  attemptId: string
  now: number
  /** In [0, 1): spreads the retry. */
  random: number
  scheduleMs?: readonly number[]
}

/**
 * The delivery after its send, and the attempt to append. The fence does not change: the claim of the delivery raised it, and
 * it guards the commit.
 */
export function concludeAttempt(input: SentDelivery): Conclusion {
  const { delivery: before, result, now } = input
  invariant(before.status === 'delivering', `delivery ${before.id} is ${before.status}, not under way`)
  const attempt = attemptOf(input)
  const { nextAttemptAt: _next, availableAt: _available, leaseOwner: _owner, lastStatusCode: _code, ...kept } = before
  const delivery: Delivery = { ...kept, status: 'dead', attemptCount: attempt.attempt, updatedAt: now }
  if (attempt.statusCode !== undefined) delivery.lastStatusCode = attempt.statusCode

  if (attempt.outcome === 'succeeded') delivery.status = 'succeeded'
  else if (isRetried(attempt)) {
    const delayMs = retryDelayMs(delivery, input.scheduleMs ?? DEFAULT_DELIVERY_SCHEDULE_MS, input.random)
    if (delayMs === undefined) delivery.status = 'exhausted'
    else {
      const requestedMs = result.kind === 'answered' ? (result.retryAfterMs ?? 0) : 0
      delivery.status = 'failed'
      delivery.nextAttemptAt = now + Math.max(delayMs, requestedMs)
      delivery.availableAt = delivery.nextAttemptAt
    }
  }
  return { delivery, attempt, isGone: attempt.statusCode === GONE }
}

/** The delays of a list such as `"5s,5m,30m"`, in ms; undefined for any other text. */
export function parseDeliverySchedule(text: string): number[] | undefined {
  const delays = text.split(',').map(parseTextMs)
  if (delays.length > DELIVERY_SCHEDULE_LENGTH_MAX) return undefined
  return delays.every(delay => delay !== undefined) ? delays : undefined
}

/**
 * The headers of one attempt (docs/webhooks.md#verify-a-signature). The id stays the same in every attempt, so a receiver
 * can recognise a repeat; the timestamp changes. There is one signature for each secret: none for a custom send, several
 * for a while after a rotation.
 */
export function deliveryHeaders(message: {
  id: string
  body: string
  now: number
  secrets: readonly string[]
}): Record<string, string> {
  const { id, body, secrets } = message
  const timestamp = String(Math.floor(message.now / 1000))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'perdure/webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  }
  if (secrets.length === 0) return headers
  const signatures = secrets.map(secret => signWebhook(secret, { id, timestamp, body }))
  return { ...headers, 'webhook-signature': signatures.join(' ') }
}

/** The shown part of a signature is long enough to be compared, and too short to post the body again. */
const SIGNATURE_SHOWN = /\b(v1,.{8})\S+/g

/** The headers as people may see them. */
function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const signature = headers['webhook-signature']
  return signature === undefined
    ? { ...headers }
    : { ...headers, 'webhook-signature': signature.replace(SIGNATURE_SHOWN, '$1…') }
}

/** The outcomes of attempts without an answer. */
const OUTCOMES = {
  timeout: 'timeout',
  connectionError: 'connection_error',
  cutOff: 'connection_error',
  refusedAddress: 'skipped',
  endpointOff: 'skipped',
} as const satisfies Record<Exclude<SendResult['kind'], 'answered'>, DeliveryOutcome>

function attemptOf({ delivery, result, headers, attemptId, now }: SentDelivery): DeliveryAttempt {
  const base = {
    ...(headers && { requestHeaders: shownHeaders(headers) }),
    id: attemptId,
    deliveryId: delivery.id,
    attempt: delivery.attemptCount + 1,
    durationMs: 'durationMs' in result ? result.durationMs : 0,
    createdAt: now,
  }
  if (result.kind === 'answered') {
    const outcome = result.status >= 200 && result.status < 300 ? 'succeeded' : 'http_error'
    return { ...base, outcome, statusCode: result.status, responseSnippet: result.responseSnippet }
  }
  const error = result.kind === 'cutOff' ? CUT_OFF_ERROR : result.error
  return { ...base, outcome: OUTCOMES[result.kind], error }
}

function isRetried({ outcome, statusCode: status = 0 }: DeliveryAttempt): boolean {
  if (outcome !== 'http_error') return outcome !== 'skipped'
  // Statuses above 599 are outside HTTP, and not the sign of a temporary failure.
  return (status >= 500 && status < 600) || RETRIED_STATUSES.includes(status)
}

/**
 * The delay before the next attempt, or undefined when no attempt is left. The position in the schedule counts from its end, so
 * that the new attempts of a redelivery go through the whole schedule.
 */
function retryDelayMs(delivery: Delivery, scheduleMs: readonly number[], random: number): number | undefined {
  const left = delivery.maxAttempts - delivery.attemptCount
  // A delivery that was created under a longer schedule waits for the first delay of the present schedule.
  const delay = scheduleMs[Math.max(0, scheduleMs.length - left)]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)))
}
