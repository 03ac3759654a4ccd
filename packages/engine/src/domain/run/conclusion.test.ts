// Conclusions of decisions: slots, the throttle's start queue, and the next wake-up.

import { expect, it } from 'vitest'
import { NOT_HELD } from '../holds/concurrency.ts'
import type { Run } from '../model/run.ts'
import { NOW, run, SECOND } from '../testkit/nouns.testkit.ts'
import { type Conclusion, conclude } from './conclusion.ts'

const slots = [
  { id: 'a', limit: 1 },
  { id: 'b', limit: 3 },
]
const throttle = { id: 't', limit: 1, periodMs: 60_000, burst: 0 }
const leased = { leaseOwner: 'engine_1', availableAt: NOW + 15 * SECOND }
const unleased = { leaseOwner: undefined, availableAt: NOW + 60 * SECOND }
const fresh = { startedAt: undefined, startedSeq: undefined, createdAt: NOW }
const queued = { ...fresh, waitingFor: { kind: 'throttle' as const, until: NOW } }
const freed = { type: 'slots.freed', slotIds: ['a', 'b'], at: NOW }
const woken = (at: number) => ({ type: 'startQueue.woken', id: 't', count: 1, at })
const start = { taken: true, freeAt: NOW + SECOND }

interface Row {
  name: string
  before: Partial<Run>
  /** Fields that the decision changed; absent: it did not change the row. */
  after?: Partial<Run>
  start?: typeof start
  fields?: Conclusion['fields']
  changes?: object[]
}

const rows: Row[] = [
  { name: 'a pass that leaves the row alone', before: { ...leased, holds: { slots } } },
  { name: 'a move under the lease', before: { ...leased, holds: { slots } }, after: { attempt: 2 } },
  { name: 'a release without holds', before: leased, after: unleased },
  {
    name: 'a release with slots',
    before: { ...leased, holds: { slots } },
    after: unleased,
    fields: NOT_HELD,
    changes: [freed],
  },
  {
    name: 'a release before a deadline',
    before: { ...leased, createdAt: NOW, startedAt: NOW, holds: { runTimeoutMs: 10 * SECOND } },
    after: unleased,
    fields: { ...NOT_HELD, availableAt: NOW + 10 * SECOND },
  },
  {
    name: 'an end before a deadline',
    before: { ...leased, startedAt: NOW, holds: { runTimeoutMs: 10 * SECOND } },
    after: { leaseOwner: undefined, availableAt: undefined, status: 'failed' },
    fields: NOT_HELD,
  },
  {
    name: 'a requested cancel, leased',
    before: { ...leased, cancelRequested: true },
    after: { attempt: 2 },
  },
  {
    name: 'a requested cancel, released',
    before: { ...leased, cancelRequested: true },
    after: unleased,
    fields: { availableAt: NOW },
  },
  {
    name: 'a start',
    before: { ...leased, ...queued, holds: { throttle } },
    after: { startedAt: NOW, waitingFor: undefined, status: 'running' },
    start,
    changes: [woken(NOW + SECOND)],
  },
  {
    name: 'no free start',
    before: { ...leased, ...fresh, holds: { throttle } },
    after: { ...unleased, waitingFor: queued.waitingFor, status: 'queued' },
    start: { ...start, taken: false },
    fields: { startQueue: 't' },
    changes: [woken(NOW + SECOND)],
  },
  {
    name: 'a pause in the start queue',
    before: { ...unleased, ...queued, holds: { throttle } },
    after: { status: 'paused', waitingFor: undefined },
    fields: NOT_HELD,
    changes: [woken(NOW)],
  },
  {
    name: 'a pause after the start',
    before: { ...unleased, startedAt: NOW, holds: { throttle } },
    after: { status: 'paused' },
    fields: NOT_HELD,
  },
]

it.each(rows)('$name', ({ before, after, start, fields = {}, changes = [] }) => {
  const found = Object.freeze(run(before))
  const left = after ? Object.freeze({ ...found, ...after }) : found
  expect(conclude(found, left, { now: NOW, start })).toEqual({ fields, changes })
})
