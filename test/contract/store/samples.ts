// Builders of valid domain objects for the store contract, each with its own id; a test gives only the fields that it is about.
// Also the helpers that several parts of the contract share.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Change, Guard } from '../../../packages/engine/src/domain/model/change.ts'
import type { Delivery } from '../../../packages/engine/src/domain/model/delivery.ts'
import { StaleError } from '../../../packages/engine/src/domain/model/errors.ts'
import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { LogLine } from '../../../packages/engine/src/domain/model/log-line.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { earliestId } from '../../../packages/engine/src/domain/text/ids.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'

export type OpenStore = () => Promise<Store>

export const NOW = 1_764_000_000_000
export const NS = 'default'

let count = 0

/** Ids rise in call order, like the engine's. */
function nextId(prefix: string): string {
  count++
  return `${prefix}_01TEST${String(count).padStart(20, '0')}`
}

/** Run ids begin with the time of the run. Ids with the same time rise in call order. */
function nextRunId(createdAt: number): string {
  count++
  return earliestId('run', createdAt) + String(count).padStart(16, '0')
}

export function aRun(fields: Partial<Run> = {}): Run {
  return {
    namespace: NS,
    id: nextRunId(fields.createdAt ?? NOW),
    workflow: 'order',
    app: 'shop',
    status: 'queued',
    triggerKind: 'event',
    trigger: { name: 'order.paid' },
    attempt: 1,
    transportTries: 0,
    createdAt: NOW,
    fence: 0,
    availableAt: NOW,
    ...fields,
  }
}

/** A run that an engine drives: leased and running. */
export function aLeasedRun(fields: Partial<Run> = {}): Run {
  return aRun({
    status: 'running',
    startedAt: NOW,
    startedSeq: 2,
    leaseOwner: 'engine-1',
    availableAt: NOW + 15_000,
    ...fields,
  })
}

/** A run that only an outsider can wake. */
export function aParkedRun(fields: Partial<Run> = {}): Run {
  return aRun({
    status: 'waiting',
    startedAt: NOW,
    startedSeq: 2,
    availableAt: undefined,
    waitingFor: { kind: 'event', stepName: 'wait', eventName: 'go' },
    ...fields,
  })
}

export function aStep(run: Run, fields: Partial<Step> = {}): Step {
  const index = fields.index ?? 0
  return {
    runId: run.id,
    id: `step-${index}`,
    name: `step ${index}`,
    op: 'StepRun',
    index,
    status: 'succeeded',
    attempt: 1,
    seq: 3 + index,
    startedAt: NOW + 10,
    finishedAt: NOW + 20 + index,
    data: '{"ok":true}',
    ...fields,
  }
}

export function aWait(run: Run, fields: Partial<Step> = {}): Step {
  return aStep(run, {
    name: 'wait',
    op: 'WaitForEvent',
    status: 'waiting',
    eventName: 'go',
    finishedAt: undefined,
    data: undefined,
    ...fields,
  })
}

export function aLine(run: Run, fields: Partial<LogLine> = {}): LogLine {
  const index = fields.index ?? 0
  return {
    runId: run.id,
    seq: 100 + index,
    ts: NOW + 30,
    level: 'info',
    message: `line ${index}`,
    scope: '@root',
    attempt: 1,
    index,
    dedupe: `@root#${index}`,
    ...fields,
  }
}

export function anEvent(fields: Partial<Event> = {}): Event {
  return {
    namespace: NS,
    id: nextId('evt'),
    name: 'go',
    source: 'api',
    receivedAt: NOW,
    woke: 0,
    triggered: [],
    ...fields,
  }
}

export function aDelivery(fields: Partial<Delivery> = {}): Delivery {
  return {
    namespace: NS,
    id: nextId('dlv'),
    app: 'shop',
    url: 'https://example.test/hook',
    eventKind: 'custom',
    status: 'pending',
    attemptCount: 0,
    maxAttempts: 8,
    createdAt: NOW,
    updatedAt: NOW,
    fence: 0,
    availableAt: NOW,
    ...fields,
  }
}

export function created(run: Run, ...steps: Step[]): Change[] {
  return [{ type: 'run.created', run }, ...steps.map((step): Change => ({ type: 'step.recorded', step }))]
}

export function moved(run: Run, fields: Partial<Run> = {}): Change {
  return { type: 'run.moved', run: { ...run, ...fields }, frames: [] }
}

export function fenceOf(run: Run): Guard {
  return { type: 'run', runId: run.id, fence: run.fence }
}

/** A separate store for every test of the suite around it. */
export function eachStore(open: OpenStore): () => Store {
  return storeFor(open, beforeEach, afterEach)
}

/** One store for all tests of the suite around it: the tests must not disturb each other. */
export function oneStore(open: OpenStore): () => Store {
  return storeFor(open, beforeAll, afterAll)
}

type Hook = (run: () => Promise<void>) => void

function storeFor(open: OpenStore, before: Hook, after: Hook): () => Store {
  let store: Store | undefined
  before(async () => {
    store = await open()
  })
  after(async () => {
    await store?.close()
    store = undefined
  })
  return () => {
    if (!store) throw new Error('no store outside a test')
    return store
  }
}

export async function write(store: Store, ...changes: (Change | Change[])[]): Promise<void> {
  await store.commit({ guards: [], changes: changes.flat() })
}

/** Whether a unit with only this guard is committed. */
export async function holds(store: Store, guard: Guard): Promise<boolean> {
  try {
    await store.commit({ guards: [guard], changes: [] })
    return true
  } catch (error) {
    if (error instanceof StaleError) return false
    throw error
  }
}

export function waitersAre(...waiters: { runId: string; stepIndex: number }[]): Guard {
  return { type: 'waiters', namespace: NS, eventName: 'go', waiters }
}
