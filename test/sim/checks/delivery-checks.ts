// Checks webhook deliveries at the end of a simulation: one delivery for each webhook step, attempts that are only appended, and
// posts that equal the stored data (docs/promises.md#deliveries).

import { CUT_OFF_ERROR } from '../../../packages/engine/src/domain/webhook/delivery-attempt.ts'
import { ensure, same } from '../core/violation.ts'
import { HOOK_URL } from '../workload/names.ts'
import { isDone, type RunRecord } from './record.ts'
import type { Snapshot } from './snapshot.ts'

const ENDED = ['succeeded', 'exhausted', 'dead']

export function checkDeliveries(all: Snapshot): void {
  const known = new Set<string>()
  for (const record of all.runs.values()) {
    for (const step of record.steps) {
      if (step.op !== 'Webhook' || !isDone(step) || step.status === 'failed') continue
      ensure(
        step.status === 'succeeded' && all.deliveries.has(step.deliveryId ?? ''),
        'a webhook that is recorded has its delivery',
        () => `${record.id}#${step.index} ${JSON.stringify(step)}`,
        [record.id],
      )
      if (step.carried) continue
      known.add(step.deliveryId ?? '')
      checkDelivery(all, record, step.deliveryId ?? '')
    }
  }
  checkPosts(all, known)
}

function checkDelivery({ deliveries, posts }: Snapshot, { id: runId }: RunRecord, deliveryId: string): void {
  const found = deliveries.get(deliveryId)
  if (!found) return
  const { delivery, attempts } = found
  const detail = () => `${JSON.stringify(delivery)} ${JSON.stringify(attempts)}`
  const subjects = [runId, deliveryId]
  ensure(
    delivery.url === HOOK_URL && delivery.eventKind === 'custom',
    'a custom delivery goes to its url',
    detail,
    subjects,
  )
  ensure(ENDED.includes(delivery.status), 'every delivery ends', detail, subjects)
  ensure(
    delivery.availableAt === undefined && delivery.leaseOwner === undefined,
    'a delivery that ended is not leased',
    detail,
    subjects,
  )
  ensure(
    same(
      attempts.map(({ attempt }) => attempt),
      attempts.map((_, i) => i + 1),
    ) && attempts.length === delivery.attemptCount,
    'attempts are numbered from 1 without a gap',
    detail,
    subjects,
  )
  ensure(attempts.length <= delivery.maxAttempts, 'attempts keep to their budget', detail, subjects)
  const last = attempts.at(-1)
  ensure(
    (last?.outcome === 'succeeded') === (delivery.status === 'succeeded'),
    'the last attempt has the outcome',
    detail,
    subjects,
  )
  const made = posts.filter(post => post.deliveryId === deliveryId)
  // An engine may stop between its claim and its post.
  const answered = attempts.filter(({ error }) => error !== CUT_OFF_ERROR)
  ensure(
    answered.length <= made.length && made.length <= attempts.length,
    'every post is an attempt, and every attempt that ended was a post',
    () => `${made.length} posts: ${detail()}`,
    subjects,
  )
  ensure(
    made.every(({ body }) => body === delivery.payload),
    'what is posted is the payload',
    () => `${JSON.stringify(made)}: ${detail()}`,
    subjects,
  )
}

/** Every post belongs to one delivery of one step. */
function checkPosts({ posts }: Snapshot, known: ReadonlySet<string>): void {
  const byBody = new Map<string, string>()
  for (const { deliveryId, body } of posts) {
    ensure(known.has(deliveryId), 'a post belongs to a recorded step', () => `${deliveryId}: ${body}`, [deliveryId])
    ensure(
      (byBody.get(body) ?? deliveryId) === deliveryId,
      'a webhook happens once per step',
      () => `${body}: ${byBody.get(body)} and ${deliveryId}`,
      [deliveryId],
    )
    byBody.set(body, deliveryId)
  }
}
