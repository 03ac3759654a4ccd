// Rows of runs and events, with defaults for every field that a test does not care about.

import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'

const CREATED_AT = Date.parse('2024-01-02T03:04:05.678Z')

export function aRun(fields: Partial<Run> = {}): Run {
  return {
    namespace: 'default',
    id: 'run_1',
    workflow: 'checkout',
    app: 'shop',
    status: 'queued',
    triggerKind: 'event',
    trigger: { id: 'evt_1', name: 'order/created' },
    attempt: 1,
    transportTries: 0,
    createdAt: CREATED_AT,
    fence: 7,
    leaseOwner: 'engine-1',
    ...fields,
  }
}

export function anEndedRun(fields: Partial<Run> = {}): Run {
  const finishedAt = CREATED_AT
  return aRun({ status: 'succeeded', finishedAt, finishedSeq: 9, leaseOwner: undefined, ...fields })
}

/** Creates a run and ends it. */
export function endedRun(fields: Partial<Run> = {}): Change[] {
  const { result: _, startedAt: __, finishedAt: ___, ...created } = fields
  return [
    { type: 'run.created', run: aRun(created) },
    { type: 'run.moved', run: anEndedRun(fields), frames: [] },
  ]
}

export function anEvent(fields: Partial<Event> = {}): Event {
  return {
    namespace: 'default',
    id: 'evt_1',
    name: 'order/created',
    source: 'api',
    receivedAt: CREATED_AT,
    woke: 0,
    triggered: [],
    ...fields,
  }
}
