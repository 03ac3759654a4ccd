// Rows that reads of single objects look at, in addition to the listed runs: trees, a long run, steps of the newest runs, posts
// to endpoints. Called by lists.ts.

import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import type { DeliveryAttempt } from '../../../packages/engine/src/domain/model/delivery.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { derivedId } from '../../../packages/engine/src/domain/text/ids.ts'
import { durationClass } from '../../../packages/engine/src/domain/view/durations.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import { seeded } from '../../../test/kit/seeded.ts'
import { commitAll, endedRun } from '../../rig/store.ts'

const NAMESPACE = 'default'
const MONTH_MS = 30 * 86_400_000
/** Levels of the tree of an event, and the number of runs from each node; in total more than a tree shows. */
const TREE_LEVELS = [40, 10, 1, 1] as const
/** Number of nodes in the chain: events and runs in turn, more levels than a tree shows. */
const CHAIN_RUNS = 12
const LONG_RUN_STEPS = 10_000
/** One in this many steps of the long run failed once. */
const RETRIED_EVERY = 10
/** Number of the newest runs that have steps, and the number of steps of each. */
const RUNS_WITH_STEPS = 2000
const STEPS_PER_RUN = 3
const ENDPOINTS = 5

export interface Details {
  /** An event with more runs and events than a tree shows. */
  eventId: string
  /** An event whose runs each emit an event, level after level. */
  chainEventId: string
  /** A run of many passes. */
  longRunId: string
  endpointId: string
}

/** Writes the details as of a time; the posts are spread over the month before it. */
export async function insertDetails(store: Store, until: number, posts: number): Promise<Details> {
  const [wide, chain] = [eventOf('wide', until), eventOf('chain', until)]
  const long = ended('long', until)
  await commitAll(store, [wide, ...tree(wide.event.id, until), chain, ...chainOf(chain.event.id, until)])
  await commitAll(store, [{ type: 'run.created', run: long }])
  await commitAll(store, longRun(long))
  await commitAll(store, runsWithSteps(until))
  await commitAll(store, postsOf(until - MONTH_MS, until, posts))
  return { eventId: wide.event.id, chainEventId: chain.event.id, longRunId: long.id, endpointId: endpointOf(0) }
}

function eventOf(name: string, at: number): Extract<Change, { type: 'event.recorded' }> {
  const id = derivedId('evt', at, name)
  const event = { namespace: NAMESPACE, id, name, source: 'api', receivedAt: at, woke: 0, triggered: [] } as const
  return { type: 'event.recorded', event: { ...event, triggered: [] } }
}

const ended = (name: string, at: number, fields: Partial<Run> = {}) =>
  endedRun({ id: derivedId('run', at, name), createdAt: at, ...fields })

function stepOf(run: Run, index: number, more: Partial<Step>): Step {
  const { createdAt: at, id } = run
  return {
    runId: id,
    id: `step-${index}`,
    name: `step-${index}`,
    op: 'StepRun',
    index,
    status: 'succeeded',
    attempt: 1,
    seq: 10 + index,
    startedAt: at,
    finishedAt: at + (index % 50),
    ...more,
  }
}

/** Yields runs of the event, their children, and the events and runs that follow from those. */
function* tree(eventId: string, at: number): Generator<Change> {
  const [roots, children] = TREE_LEVELS
  for (let r = 0; r < roots; r++) {
    const root = ended(`root ${r}`, at, { eventId })
    yield { type: 'run.created', run: root }
    for (let c = 0; c < children; c++) {
      const child = ended(`child ${r} ${c}`, at, { parentRunId: root.id, parentStepIndex: c })
      yield { type: 'step.recorded', step: stepOf(root, c, { op: 'RunWorkflow', childRunId: child.id }) }
      yield { type: 'run.created', run: child }
    }
    const emitted = eventOf(`emitted ${r}`, at)
    yield emitted
    yield { type: 'step.recorded', step: emit(root, children, emitted.event.id) }
    yield { type: 'run.created', run: ended(`of emitted ${r}`, at, { eventId: emitted.event.id }) }
  }
}

function* chainOf(eventId: string, at: number): Generator<Change> {
  let from = eventId
  for (let i = 0; i < CHAIN_RUNS; i++) {
    const run = ended(`chain ${i}`, at, { eventId: from })
    const emitted = eventOf(`chain ${i}`, at)
    yield { type: 'run.created', run }
    yield emitted
    yield { type: 'step.recorded', step: emit(run, 0, emitted.event.id) }
    from = emitted.event.id
  }
}

function emit(run: Run, index: number, emittedEventId: string): Step {
  return stepOf(run, index, { op: 'Emit', eventName: 'emitted', emittedEventId })
}

/** Yields a run in which each step came with its own pass; some steps were tried twice. */
function* longRun(run: Run): Generator<Change> {
  let pass = 0
  for (let index = 0; index < LONG_RUN_STEPS; index++) {
    const of = (attempt: number): Partial<Step> => ({
      attempt,
      pass: ++pass,
      runner: 'runner-1',
      passSentAt: run.createdAt,
      seq: 20 + 3 * index + attempt,
      data: JSON.stringify({ index, text: 'x'.repeat(200) }),
    })
    const line = {
      runId: run.id,
      seq: 20 + 3 * index,
      ts: run.createdAt,
      level: 'info',
      message: `line ${index}`,
    } as const
    yield { type: 'log.written', line: { ...line, scope: `step-${index}`, attempt: 1, index: 0, dedupe: `${index}` } }
    const isRetried = index % RETRIED_EVERY === 0
    const { data: _, ...first } = of(1)
    const error = { message: 'the service did not answer' }
    const tried: Partial<Step> = { ...first, status: 'retrying', error, nextAttemptAt: run.createdAt }
    if (!isRetried) yield { type: 'step.recorded', step: stepOf(run, index, { ...first, data: '{"index":1}' }) }
    else {
      yield { type: 'step.recorded', step: stepOf(run, index, tried) }
      yield { type: 'step.moved', step: stepOf(run, index, of(2)) }
    }
  }
}

/** Yields runs with steps, because the statistics of steps read the newest ended runs. */
function* runsWithSteps(until: number): Generator<Change> {
  for (let i = 0; i < RUNS_WITH_STEPS; i++) {
    const run = ended(`with steps ${i}`, until + i, { workflow: `workflow-${i % 20}`, app: `app-${i % 10}` })
    yield { type: 'run.created', run }
    for (let index = 0; index < STEPS_PER_RUN; index++) yield { type: 'step.recorded', step: stepOf(run, index, {}) }
  }
}

const endpointOf = (i: number) => derivedId('whe', 0, String(i))

/** Yields posts spread over the whole span; some failed. */
function* postsOf(from: number, until: number, posts: number): Generator<Change> {
  const random = seeded(2)
  for (let i = 0; i < posts; i++) {
    const at = from + Math.floor(((until - from) * i) / posts)
    const durationMs = Math.floor(20 * Math.exp(5 * random.next()))
    const outcome = random.next() < 0.95 ? 'succeeded' : 'failed'
    const attempt: DeliveryAttempt = {
      deliveryId: derivedId('dlv', at, String(i)),
      id: derivedId('att', at, String(i)),
      attempt: 1,
      outcome: outcome === 'succeeded' ? 'succeeded' : 'http_error',
      durationMs,
      createdAt: at,
    }
    const counted = { namespace: NAMESPACE, endpointId: endpointOf(i % ENDPOINTS), at, outcome } as const
    yield { type: 'delivery.attempted', attempt, counted: { ...counted, durationClass: durationClass(durationMs) } }
  }
}
