// Checks events at the end of a simulation: acknowledged events are in the log, each event in the log had exactly its own
// effects, a dedupe id counts once, and no wait missed an event (docs/promises.md#events).

import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import { ensure, same } from '../core/violation.ts'
import type { PostedEvent } from '../workload/journal.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

export function checkEvents(all: Snapshot): void {
  const posted = new Map(all.journal.events.map(each => [each.token, each]))
  const seen = new Set<string>()
  for (const event of all.events.values()) {
    checkFanout(all, event)
    if (event.source !== 'api') continue
    const token = (JSON.parse(event.data ?? 'null') as { token: string }).token
    const post = posted.get(token)
    ensure(post?.namespace === event.namespace, 'only what was posted is in the log', () => JSON.stringify(event), [
      event.id,
    ])
    ensure(!seen.has(token), 'an event is logged once', () => JSON.stringify(event), [event.id, token])
    seen.add(token)
  }
  for (const post of all.journal.events) checkAcknowledged(all, post, seen)
  checkDedupe(all, seen)
  for (const record of all.runs.values()) checkWaits(all, record)
  checkWoke(all)
}

/**
 * `woke` counts the runs with waits that were parked when the event arrived, but not waits that found it in the log. A wait of
 * the emitting run itself may have been parked by the same pass, so it may count or not.
 */
function checkWoke({ runs, events }: Snapshot): void {
  const woken = new Map<string, { others: number; own: number }>()
  for (const { id, steps, frames } of runs.values()) {
    const counted = new Set<string>()
    for (const { eventId, op, carried, index } of steps) {
      if (eventId === undefined || (op !== 'WaitForEvent' && op !== 'WaitForSignal') || carried) continue
      const wasParked = frames.some(
        frame => frame.kind === 'step_status' && frame.index === index && frame.status === 'waiting',
      )
      if (!wasParked || counted.has(eventId)) continue
      counted.add(eventId)
      const { others, own } = woken.get(eventId) ?? { others: 0, own: 0 }
      const isOwn = (JSON.parse(events.get(eventId)?.data ?? 'null') as { run?: string })?.run === id
      woken.set(eventId, isOwn ? { others, own: own + 1 } : { others: others + 1, own })
    }
  }
  for (const event of events.values()) {
    const { others, own } = woken.get(event.id) ?? { others: 0, own: 0 }
    ensure(
      others <= event.woke && event.woke <= others + own,
      'woke is exact',
      () => `${others} woken: ${JSON.stringify(event)}`,
      [event.id],
    )
  }
}

/** An event and the runs it started exist together. */
function checkFanout({ runs, specs }: Snapshot, event: Event): void {
  const subjects = [event.id]
  const starting = event.triggered.filter(({ skipped, delivered }) => !skipped && !delivered)
  for (const { workflow, app, runId } of starting) {
    const run = runs.get(runId ?? '')?.run
    ensure(
      run?.eventId === event.id && run.namespace === event.namespace && run.workflow === workflow && run.app === app,
      'the runs an event triggered exist',
      () => `${JSON.stringify(event)}: ${JSON.stringify(run)}`,
      subjects,
    )
  }
  // A delivered event may start a run later.
  const isLater = ({ workflow, app }: JudgedRun['run']) =>
    event.triggered.some(entry => entry.delivered && entry.workflow === workflow && entry.app === app)
  const started = [...runs.values()].filter(({ run }) => run.eventId === event.id && !isLater(run)).map(({ id }) => id)
  ensure(
    same(started.sort(), starting.map(({ runId }) => runId).sort()),
    'an event names every run it started',
    () => `${JSON.stringify(event)}: ${started}`,
    subjects,
  )
  const pairs = event.triggered.map(({ workflow, app }) => `${workflow} ${app}`)
  const targetApp = (JSON.parse(event.data ?? 'null') as { targetApp?: string }).targetApp
  const scope = targetApp ?? (event.source === 'api' ? event.app : undefined)
  ensure(
    same(pairs, expectedFanout(specs, event.name, scope)),
    'an event starts what it triggers',
    () => JSON.stringify(event),
    subjects,
  )
}

/** The triggers of an event, by exact name or trailing wildcard, sorted by workflow, then app. */
function expectedFanout(specs: readonly WorkflowSpec[], eventName: string, app: string | undefined): string[] {
  const triggers = (spec: WorkflowSpec) => spec.triggers ?? [{ event: spec.name }]
  const matches = ({ event }: { event: string }) =>
    event.endsWith('*') ? eventName.startsWith(event.slice(0, -1)) : event === eventName
  return specs
    .filter(spec => (app === undefined || spec.app === app) && triggers(spec).some(matches))
    .map(spec => `${spec.name} ${spec.app}`)
    .sort()
}

function checkAcknowledged({ events }: Snapshot, post: PostedEvent, logged: ReadonlySet<string>): void {
  const { reply, token } = post
  if (reply === undefined) return
  const detail = () => JSON.stringify(post)
  if (reply.deduped) {
    ensure(!logged.has(token), 'a duplicate leaves no trace', detail, [token])
    return
  }
  const event = events.get(reply.eventId ?? '')
  ensure(event?.namespace === post.namespace && logged.has(token), 'every acknowledged event is in the log', detail, [
    token,
  ])
  ensure(
    same(event.triggered, reply.triggered) && event.woke === reply.woke,
    'the log has what the answer said',
    () => `${detail()}; ${JSON.stringify(event)}`,
    [token, event.id],
  )
}

/** An event is refused as a duplicate only if the first one is in the log. */
function checkDedupe({ journal }: Snapshot, logged: ReadonlySet<string>): void {
  const byKey = new Map<string, PostedEvent[]>()
  for (const post of journal.events) {
    const { dedupeId, app } = post.event
    if (dedupeId === undefined) continue
    const key = `${post.namespace} ${app ?? ''} ${dedupeId}`
    byKey.set(key, [...(byKey.get(key) ?? []), post])
  }
  for (const [key, posts] of byKey) {
    const counted = posts.filter(({ token }) => logged.has(token))
    ensure(
      counted.length <= 1,
      'a dedupe id fans out at most once',
      () => `${key}: ${JSON.stringify(counted)}`,
      counted.map(({ token }) => token),
    )
    const deduped = posts.some(({ reply }) => reply?.deduped)
    ensure(!deduped || counted.length === 1, 'a duplicate has an original', () => `${key}: ${JSON.stringify(posts)}`)
  }
}

/** Checks which event each wait of a run took, and that no wait timed out while there was an event for it. */
function checkWaits(all: Snapshot, record: JudgedRun): void {
  const { id, run, steps } = record
  const taken = new Map<string, Step>()
  for (const step of steps) {
    if (step.op !== 'WaitForEvent' || step.eventId === undefined) continue
    const detail = () => `${id}#${step.index}: ${JSON.stringify(step)}`
    const event = all.events.get(step.eventId)
    ensure(
      event?.name === step.eventName && event?.namespace === record.namespace,
      'a wait takes a matching event',
      detail,
      [id],
    )
    const other = taken.get(event.id)
    // The runner reported this wait in a pass that was sent before it knew the other wait's event.
    const wereTogether = !other || record.wall.wasSet || (other.finishedAt ?? 0) >= (step.passSentAt ?? Infinity)
    ensure(wereTogether, 'only waits that are open together see one event', detail, [id])
    ensure(step.carried || event.id !== run.trigger.id, 'no wait takes the trigger of its run', detail, [id])
    if (!other) taken.set(event.id, step)
    const { id: eventId, name, data, receivedAt } = event
    const carried = {
      id: eventId,
      name,
      ...(data === undefined ? {} : { data: JSON.parse(data) }),
      receivedAt: new Date(receivedAt).toISOString(),
    }
    ensure(same(JSON.parse(step.data ?? 'null'), carried), 'the result of a wait is its event', detail, [id])
  }
  checkOldestFirst(record)
  for (const step of steps) if (step.timedOut && !step.carried) checkTimeout(all, record, step, taken)
}

/** When several events match, the wait takes the oldest. */
function checkOldestFirst({ id, steps, frames }: JudgedRun): void {
  const parkedAt = (step: Step) =>
    frames.find(({ kind, ...frame }) => kind === 'step_status' && 'index' in frame && frame.index === step.index)
      ?.seq ?? Infinity
  const waits = steps.filter(({ op, carried }) => op === 'WaitForEvent' && !carried)
  for (const later of waits) {
    if (later.eventId === undefined) continue
    const passedOver = waits.find(
      ({ index, eventName, seq, ...step }) =>
        index < later.index &&
        eventName === later.eventName &&
        seq > later.seq &&
        parkedAt({ index, eventName, seq, ...step }) < later.seq,
    )
    ensure(
      !passedOver,
      'the oldest wait takes the event',
      () => `${id}: ${JSON.stringify(later)} before ${JSON.stringify(passedOver)}`,
      [id],
    )
  }
}

function checkTimeout(
  { events, journal }: Snapshot,
  { id, run, namespace, earlierEvents, timedOutAt, wall }: JudgedRun,
  step: Step,
  taken: ReadonlyMap<string, Step>,
): void {
  const until = (wall.wasSet ? timedOutAt.get(step.index) : step.wakeAt) ?? 0
  const missed = journal.events.find(post => {
    const event = events.get(post.reply?.eventId ?? '')
    return (
      event?.name === step.eventName &&
      event?.namespace === namespace &&
      !earlierEvents.has(event.id) &&
      event.id !== run.trigger.id &&
      !taken.has(event.id) &&
      (post.ackedAt ?? Infinity) < until
    )
  })
  ensure(
    !missed,
    'no wait misses an event',
    () => `${id}#${step.index} ${JSON.stringify(step)} missed ${JSON.stringify(missed)}`,
    [id, missed?.token],
  )
}
