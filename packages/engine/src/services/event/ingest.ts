// Accepts events (docs/events.md#send-an-event). One unit contains the log row of an event, the steps it wakes and the runs it
// starts; the reply goes out only when that unit is durable. Events that are sent together share units, in their order. Called
// by the HTTP routes, by services/webhook/inbound, and by services/event/timers for events that arrive later and those of the
// engine.

import type { SendEventReply } from '@perdure/protocol'
import type { Fanout } from '../../domain/arrival/fanout.ts'
import { POLICY_FLAGS } from '../../domain/arrival/policy.ts'
import { takeIn, type UnitOfEvents } from '../../domain/arrival/take-in.ts'
import type { Attributes } from '../../domain/model/attributes.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError, StaleError } from '../../domain/model/errors.ts'
import { type EngineEventFacts, type Triggered, type UndecidedEvent, wireTriggered } from '../../domain/model/event.ts'
import { type FlowRow, released } from '../../domain/model/flow-row.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { scheduledEvent, scheduledRow } from '../../domain/run/later/scheduled-event.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { timestamp } from '../../domain/text/timestamp.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { Driver } from '../pass/driver.ts'
import { startEventSpan } from '../support/spans.ts'
import { addDedupe, claimName, type DedupeClaim, type Deduplicated, dedupeClaims } from './dedupe-claims.ts'
import { saveClaimed } from './save-claimed.ts'

export interface IncomingEvent extends Deduplicated {
  name: string
  data?: JsonText
  runner?: string
  targetApp?: string
  /** Attributes of the runs that the event starts. */
  attributes?: Attributes
  /** The webhook receiver that accepted it. */
  receiverId?: string
  /** The instant of the schedule that sends it. */
  scheduledAt?: number
  /** The caller's `traceparent`: the runs that the event starts continue that trace. */
  trace?: Traceparent
  /** Only on a signal or an update: its run, as it was read. */
  signal?: { kind: 'signal' | 'update'; run: Pick<Run, 'id' | 'fence' | 'signalled'> }
  /** Only on an event that the engine sends. */
  engine?: EngineEventFacts
}

/** An event on its way in. */
interface Incoming {
  event: UndecidedEvent
  sent: IncomingEvent
  dedupes: readonly DedupeClaim[]
  /** Its dedupe id is claimed: it has no effect. */
  isRepeat: boolean
}

/**
 * A unit with the effects of each of its events, in their order: undefined for a repeat, `later` for an event that arrives
 * later.
 */
interface Taken extends UnitOfEvents {
  effects: (Fanout | 'later' | undefined)[]
}

/** Maximum events in one unit, and characters of their payloads; then the next unit begins. */
const EVENTS_PER_UNIT_MAX = 200
const CHARS_PER_UNIT_MAX = 1024 * 1024

/** The event as it was sent, with the first run that it starts, or the live run for which a singleton skipped it. */
interface Sent {
  eventId: string
  runId: string | undefined
  liveRunId: string | undefined
}

/** The flow-control row for which an event arrives, and the change of the row in the same commit. */
export interface DueEvent {
  row: FlowRow
  /**
   * The event arrives even if the row has changed, but not if the row is gone. Absent: it arrives only if the row is unchanged.
   */
  arrivesAnyway?: true
  after(row: FlowRow, sent: Sent): Change
}

/** The parts of an event's commit that are not its effects. */
interface Beside {
  /** Called before each decision, which is repeated after a change of the catalog. Throws if the event may not arrive. */
  refuse?(): void
  due?: DueEvent
  /** Makes the unit durable, together with other changes. */
  commit?: (unit: Unit, sent: Sent) => Promise<void>
}

export interface IngestDeps
  extends Pick<Core, 'store' | 'limiter' | 'catalog' | 'announcer' | 'clock' | 'ids' | 'report' | 'tracing'> {
  driver: Driver
}

export class Ingest {
  readonly #deps: IngestDeps

  constructor(deps: IngestDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the event and its effects are durable. An event with a repeated dedupe id, or whose row is gone, has no
   * effect.
   * @throws StaleError for a signal whose run has changed since it was read.
   */
  async send(namespace: string, incoming: IncomingEvent, beside?: Beside): Promise<SendEventReply> {
    const [reply] = await this.#traced([this.#incoming(namespace, incoming)], beside)
    return reply as SendEventReply
  }

  /**
   * Sends events as if each was sent after the previous one was durable. The replies are in the same order; an event that could
   * not be stored has its error as the reply. Once the store is unavailable, the remaining events are not tried.
   */
  async sendAll(namespace: string, events: readonly IncomingEvent[]): Promise<(SendEventReply | Error)[]> {
    const replies: (SendEventReply | Error)[] = []
    let unavailable: Error | undefined
    const take = (some: readonly Incoming[]) => this.#traced(some).catch((error: Error) => error)
    for (const part of partsOf(events)) {
      const some = part.map(event => this.#incoming(namespace, event))
      const taken = unavailable ?? (await take(some))
      if (!(taken instanceof Error)) replies.push(...taken)
      else if (unavailable || some.length === 1 || isUnavailable(taken)) {
        unavailable ??= isUnavailable(taken) ? taken : undefined
        replies.push(...some.map(() => taken))
      } else {
        // One of the events cannot be stored, and the others must not fail for that.
        for (const one of some) replies.push(...[await take([one])].flat())
      }
    }
    return replies
  }

  /** The event that claimed the dedupe id of a repeat, and the run that it started, if they are known. */
  async firstOf(namespace: string, repeat: IncomingEvent): Promise<{ eventId: string; runId?: string } | undefined> {
    const { store, clock } = this.#deps
    for (const { key } of dedupeClaims(namespace, repeat, clock.now())) {
      const { eventId } = (await store.dedupeClaim(key)) ?? {}
      if (eventId === undefined) continue
      // An event that arrives later is not in the log yet.
      const first = await store.in(namespace).event(eventId)
      const runId = first && firstRunOf(first)
      return { eventId, ...(runId === undefined ? {} : { runId }) }
    }
    return undefined
  }

  /**
   * Lets an event arrive whose time has come. Its row is removed in the same commit, so it arrives once: nothing happens if it
   * has already arrived or was deleted. Its dedupe id was claimed when it was sent.
   */
  async arrive(row: FlowRow): Promise<void> {
    // The clock was set back since the claim: the event is not due any more, and is claimed again when it is due.
    if (row.dueAt !== undefined && row.dueAt > this.#deps.clock.now())
      return saveClaimed(this.#deps, row, released(row, row.dueAt))
    const { id, dedupeId: _, ...incoming } = scheduledEvent(row)
    const isScheduled = row.policy === 'event' ? { isScheduled: true as const } : {}
    await this.arriveFor({ row, after: () => ({ type: 'flow.deleted', id: row.id, ...isScheduled }) }, id, incoming)
  }

  /**
   * Lets the event of a due row arrive in the commit that changes the row. Nothing happens if the row has changed since it was
   * claimed: then the next claim of it lets the event arrive, if it is still due.
   */
  async arriveFor(due: DueEvent, id: string, incoming: IncomingEvent): Promise<void> {
    await this.#traced([this.#incoming(due.row.namespace, incoming, id)], { due })
  }

  #incoming(namespace: string, sent: IncomingEvent, id?: string): Incoming {
    const { clock, ids } = this.#deps
    const now = clock.now()
    const event = arrivedEvent(namespace, sent, { id: id ?? ids.next('evt', now), now })
    return { event, sent, dedupes: dedupeClaims(namespace, sent, now), isRepeat: false }
  }

  async #traced(events: readonly Incoming[], beside?: Beside): Promise<SendEventReply[]> {
    const { tracing, clock } = this.#deps
    const spans = tracing ? events.map(({ event, sent }) => startEventSpan(tracing, event, sent.trace)) : []
    for (const [i, span] of spans.entries()) {
      const one = events[i] as Incoming
      one.sent = { ...one.sent, trace: span.traceparent }
    }
    try {
      return await this.#take(events, beside)
    } catch (error) {
      for (const span of spans) span.fail(error instanceof EngineError ? error.code : 'internal')
      throw error
    } finally {
      for (const span of spans) span.end(clock.now())
    }
  }

  async #take(events: readonly Incoming[], beside: Beside | undefined): Promise<SendEventReply[]> {
    const { refuse, due, commit } = beside ?? {}
    const { store, limiter, catalog, driver, announcer } = this.#deps
    const { namespace, id: eventId } = (events[0] as Incoming).event
    const creation = driver.leaseAtCreation()
    let row = due?.row
    let sent: Sent = { eventId, runId: undefined, liveRunId: undefined }
    try {
      const taken = await decideAndCommit<Taken>({
        store,
        namespace,
        limiter,
        catalog,
        decide: assumptions => {
          refuse?.()
          const read = due && assumptions.flow.get(due.row.id)
          // An open buffer makes the first decision stale, and then the row of the event is read too.
          if (read !== undefined && read?.version !== due?.row.version) {
            row = due?.arrivesAnyway && (read ?? undefined)
            if (!row) return undefined
          }
          return this.#decide(events, assumptions)
        },
        // A repeat must not take a token of a rate limit.
        mayAsk: async () => ((await this.#findRepeats(events)) ? 'again' : true),
        unit: unit => {
          const [first] = unit.effects
          if (typeof first === 'object') sent = { eventId, ...startedBy(first) }
          if (due && row) {
            unit.guards.push({ type: 'flow', id: row.id, version: row.version })
            unit.changes.push(due.after(row, sent))
          }
          for (const { sent } of events) if (sent.signal) addReceiver(unit, sent.signal)
          creation.lease(unit.changes)
          return unit
        },
        ...(commit ? { commit: (unit: Unit) => commit(unit, sent) } : {}),
        onStale: async guard => {
          const { type } = guard
          if (type === 'run') throw new StaleError(guard)
          if (type === 'dedupe') await this.#findRepeats(events)
          return type === 'dedupe'
        },
      })
      if (!taken) return events.map(() => ({ deduped: true }))
      announcer.announce(taken.changes)
      creation.start()
      return events.map((one, i) => reply(one, taken.effects[i]))
    } finally {
      creation.release()
    }
  }

  /** Decides the events one after the other; undefined if all are repeats. */
  #decide(events: readonly Incoming[], assumptions: Assumptions): Taken | undefined {
    const unit: Taken = {
      guards: [],
      changes: [],
      questions: [],
      // A copy: each event reads the flow-control rows that the earlier events have written.
      assumptions: { ...assumptions },
      wokenWaiters: new Set(),
      guarded: new Set(),
      effects: [],
    }
    const claimed = new Set<string>()
    for (const one of events) {
      const claims = one.dedupes.map(claimName)
      const isRepeat = one.isRepeat || claims.some(claim => claimed.has(claim))
      unit.effects.push(isRepeat ? undefined : this.#takeOne(unit, one))
      if (isRepeat) continue
      for (const [i, dedupe] of one.dedupes.entries()) {
        addDedupe(unit, dedupe, { ...one.sent, eventId: one.event.id })
        if (dedupe.claims) claimed.add(claims[i] as string)
      }
    }
    return unit.effects.some(effects => effects !== undefined) ? unit : undefined
  }

  #takeOne(unit: Taken, { event, sent }: Incoming): Fanout | 'later' {
    const { catalog, clock, report } = this.#deps
    const { namespace, id, receivedAt: createdAt } = event
    const { at, ...rest } = sent
    if (at !== undefined && at > createdAt) {
      unit.changes.push({ type: 'flow.saved', row: scheduledRow(namespace, { ...rest, id, createdAt }, at) })
      return 'later'
    }
    const { targetApp, runner: pin, attributes, trace, engine: { inRow: engineEvents, notFor } = {} } = sent
    const about = { targetApp, pin, attributes, trace, engineEvents, notFor }
    return takeIn(unit, { event, ...about, catalog: catalog.view(namespace), now: clock.now(), report })
  }

  /** Marks the events whose dedupe ids are claimed; false if it marks none that was not marked before. */
  async #findRepeats(events: readonly Incoming[]): Promise<boolean> {
    const { store } = this.#deps
    const open = events.filter(({ dedupes, isRepeat }) => dedupes.length > 0 && !isRepeat)
    const found = await Promise.all(
      open.map(async one => {
        for (const { key } of one.dedupes) if (await store.dedupeClaim(key)) one.isRepeat = true
        return one.isRepeat
      }),
    )
    return found.includes(true)
  }
}

/** Requires the run to be unchanged since it was read. The first signal marks the run, so that its end looks for signals. */
function addReceiver(unit: Unit, { run: { id: runId, fence, signalled } }: NonNullable<IncomingEvent['signal']>): void {
  unit.guards.push({ type: 'run', runId, fence })
  if (!signalled) unit.changes.push({ type: 'run.marked', runId, mark: 'signalled' })
}

/** Splits the events into parts; each becomes one unit. */
function partsOf(events: readonly IncomingEvent[]): IncomingEvent[][] {
  const parts: IncomingEvent[][] = []
  let chars = 0
  for (const event of events) {
    const part = parts.at(-1)
    chars += event.data?.length ?? 0
    if (part && part.length < EVENTS_PER_UNIT_MAX && chars <= CHARS_PER_UNIT_MAX) part.push(event)
    else {
      parts.push([event])
      chars = event.data?.length ?? 0
    }
  }
  return parts
}

function isUnavailable(error: Error): boolean {
  return error instanceof EngineError && (error.code === 'unavailable' || error.code === 'overloaded')
}

/** The event as the log records it, without its effects. */
export function arrivedEvent(
  namespace: string,
  { name, app, receiverId, scheduledAt, data, engine, signal }: IncomingEvent,
  { id, now }: { id: string; now: number },
): UndecidedEvent {
  const source = signal?.kind ?? (engine ? 'engine' : scheduledAt === undefined ? 'api' : 'schedule')
  const { generation } = engine ?? {}
  const runId = signal?.run.id
  return { namespace, id, name, app, source, scheduledAt, receiverId, runId, data, receivedAt: now, generation }
}

function reply(
  { event: { id: eventId }, sent: { at } }: Incoming,
  effects: Fanout | 'later' | undefined,
): SendEventReply {
  if (effects === undefined) return { deduped: true }
  // The reply to an event with a time has no effects, even if that time has passed.
  if (at !== undefined) return { eventId, at: timestamp(at) }
  const { woke, triggered, suspended, warnings } = effects as Fanout
  const { runId, liveRunId } = startedBy({ triggered })
  return {
    eventId,
    ...(runId === undefined ? flagsOf(triggered) : { runId }),
    ...(liveRunId === undefined ? {} : { liveRunId: shownRunId(liveRunId) }),
    woke,
    triggered: wireTriggered(triggered),
    ...(suspended ? { suspended } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

function startedBy({ triggered }: Pick<Fanout, 'triggered'>): Pick<Sent, 'runId' | 'liveRunId'> {
  const runId = firstRunOf({ triggered })
  const liveRunId = triggered.find(entry => entry.liveRunId !== undefined)?.liveRunId
  return { runId, liveRunId: runId === undefined ? liveRunId : undefined }
}

function firstRunOf({ triggered }: Pick<Fanout, 'triggered'>): string | undefined {
  return triggered.find(entry => entry.runId !== undefined)?.runId
}

/** The reasons why an event started no run, as its entries state them. */
function flagsOf(triggered: readonly Triggered[]): Partial<Record<(typeof POLICY_FLAGS)[number], true>> {
  return Object.fromEntries(POLICY_FLAGS.filter(flag => triggered.some(entry => entry[flag])).map(flag => [flag, true]))
}
