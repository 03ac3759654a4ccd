// The dedupe ids of an event: the keys that must be free for the event to have an effect, and the key that it claims
// (docs/events.md#send-an-event).

import type { Unit } from '../../domain/model/change.ts'
import { DEDUPE_WINDOW_MS, type DedupeKey } from '../../domain/model/event.ts'

/** The fields of an event that decide whether it is a repeat. */
export interface Deduplicated {
  app?: string
  dedupeId?: string
  /** Scope in which `dedupeId` is unique; the app if absent. Contains a line break, which no app name may contain. */
  dedupeScope?: string
  /**
   * The digest of a body whose message id is not signed: a body that came with an id before is a repeat under any id, or
   * without one.
   */
  bodyDedupeId?: string
  /** When the event arrives, if that is later than now. */
  at?: number
}

/** A key that must be free, and whether the event claims it. */
export interface DedupeClaim {
  key: DedupeKey
  claims: boolean
}

/** The key that the event's dedupe id claims; undefined if the event has no dedupe id. */
export function dedupeKey(
  namespace: string,
  { app, dedupeId, dedupeScope = app ?? '' }: Deduplicated,
  now: number,
): DedupeKey | undefined {
  return dedupeId === undefined ? undefined : { namespace, app: dedupeScope, dedupeId, now }
}

/** Claims a body only together with an id: senders without ids may send the same body again. */
export function dedupeClaims(namespace: string, event: Deduplicated, now: number): readonly DedupeClaim[] {
  const key = dedupeKey(namespace, event, now)
  const { bodyDedupeId: dedupeId } = event
  const body = dedupeId === undefined ? undefined : dedupeKey(namespace, { ...event, dedupeId }, now)
  const claims = key === undefined ? [] : [{ key, claims: true }]
  return body === undefined ? claims : [...claims, { key: body, claims: key !== undefined }]
}

/** A name that is the same for every claim of one key. */
export function claimName({ key: { app, dedupeId } }: DedupeClaim): string {
  return JSON.stringify([app, dedupeId])
}

/** Adds the event's claim to the unit. An id stays claimed until a day after its event has arrived. */
export function addDedupe(
  unit: Unit,
  { key, claims }: DedupeClaim,
  { eventId, at = 0 }: Deduplicated & { eventId: string },
): void {
  const { now, ...id } = key
  unit.guards.push({ type: 'dedupe', ...key })
  const expiresAt = Math.max(now, at) + DEDUPE_WINDOW_MS
  if (claims) unit.changes.push({ type: 'dedupe.claimed', ...id, expiresAt, eventId })
}
