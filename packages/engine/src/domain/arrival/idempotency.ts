// Idempotency: within `ttl`, the first event with a key passes and the others are dropped as its repeats
// (docs/flow-control.md#idempotency). The key is claimed in the commit of the first event, even if that starts no run.

import { firstVersion, flowRowId } from '../model/flow-row.ts'
import { dropKey, type Policy } from './policy.ts'

export const idempotency: Policy = (input, arrival) => {
  const { event, workflow, assumptions, now } = input
  const { idempotency: policy, rateLimit } = workflow.flowControl ?? {}
  if (!policy) return undefined
  const key = dropKey('idempotency', policy.key, { input, arrival })
  if (key === undefined) return undefined
  const { namespace } = event
  const parts = { namespace, app: workflow.app, workflow: workflow.name, policy: 'idempotency', key } as const
  const id = flowRowId(parts)
  // A token of the rate limit cannot be given back, so a repeat must be recognised before it takes a token.
  if (rateLimit && !assumptions.flow.has(id)) {
    arrival.questions.push({ type: 'flow', id })
    return {}
  }
  const row = assumptions.flow.get(id) ?? undefined
  arrival.guards.push({ type: 'flow', id, version: row?.version ?? 0 })
  if (row?.expiresAt !== undefined && row.expiresAt > now)
    return { deduped: true, repeatOf: (JSON.parse(row.state) as { eventId: string }).eventId }
  const state = JSON.stringify({ eventId: event.id })
  const version = row?.version ? row.version + 1 : firstVersion(event.id)
  arrival.changes.push({
    type: 'flow.saved',
    // The id is a digest of the key. The key itself is a part of a payload, which must not remain after a run is erased.
    row: { ...parts, key: '', id, version, expiresAt: now + policy.ttlMs, state },
  })
  return undefined
}
