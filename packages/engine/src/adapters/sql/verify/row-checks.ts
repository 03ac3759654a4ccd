// The rules of deliveries, their attempts and stored payloads, as queries over ranges of ids.

import type { Check } from './check.ts'

const SETTLED = `('succeeded', 'exhausted', 'dead')`

export const DELIVERY_CHECKS: readonly Check[] = [
  {
    name: 'delivery.status',
    sql: `SELECT d.id, d.status FROM deliveries d WHERE d.id > ? AND d.id <= ? AND (
      (d.status IN ${SETTLED} AND (d.available_at IS NOT NULL OR d.lease_owner IS NOT NULL))
      OR (d.status IN ('pending', 'delivering', 'failed') AND d.available_at IS NULL)
      OR d.status NOT IN ('succeeded', 'exhausted', 'dead', 'pending', 'delivering', 'failed'))`,
    message: ([, status]) => `is ${status}, but its lease or its next time contradicts this status`,
  },
  {
    name: 'delivery.attempts',
    sql: `SELECT d.id, d.attempt_count, count(a.attempt), d.max_attempts
      FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id
      WHERE d.id > ? AND d.id <= ? GROUP BY d.id, d.attempt_count, d.max_attempts
      HAVING count(a.attempt) <> d.attempt_count OR coalesce(max(a.attempt), 0) <> d.attempt_count
        OR d.attempt_count > d.max_attempts`,
    message: ([, counted, found, max]) => `counts ${counted} of at most ${max} attempts, but ${found} are stored`,
  },
  {
    name: 'attempt.delivery',
    sql: `SELECT a.delivery_id, a.attempt FROM delivery_attempts a LEFT JOIN deliveries d ON d.id = a.delivery_id
      WHERE a.delivery_id > ? AND a.delivery_id <= ? AND d.id IS NULL`,
    message: ([, attempt]) => `has attempt ${attempt}, but the delivery does not exist`,
  },
]

export const PAYLOAD_CHECKS: readonly Check[] = [
  {
    name: 'payload.owner',
    sql: `SELECT p.id FROM payloads p WHERE p.id > ? AND p.id <= ?
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = p.id)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.id = p.id)`,
    message: () => 'has a stored payload, but there is no such run or delivery',
  },
]
