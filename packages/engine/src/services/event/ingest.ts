// Takes in an event (docs/events.md#send-an-event). One unit contains its log row, the steps it wakes and the runs it
// starts; the reply goes out only when that unit is durable. Called by the HTTP routes,
// by services/webhook/inbound, and by services/event/timers for events that arrive later.

import type { SendEventReply } from '@perdure/protocol'
import { type Fanout, fanout } from '../../domain/arrival/fanout.ts'
import { POLICY_FLAGS } from '../../domain/arrival/policy.ts'
import { scheduledEvent } from '../../domain/arrival/scheduled-event.ts'
import type { Attributes } from '../../domain/model/attributes.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import {
  DEDUPE_WINDOW_MS,
  type DedupeKey,
  type Triggered,
  type UndecidedEvent,
  wireTriggered,
} from '../../domain/model/event.ts'
import { type FlowRow, released } from '../../domain/model/flow-row.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { Driver } from '../pass/driver.ts'
import { startEventSpan } from '../support/spans.ts'
import { saveClaimed } from './save-claimed.ts'

export interface IncomingEvent {
  name: string
  app?: string
  data?: JsonText
  dedupeId?: string
  /** Scope in which `dedupeId` is unique; the app if absent. Contains a line break, which no app's name does. */
  dedupeScope?: string
  /** The digest of a body whose message id is not signed: one that came with an id before is a repeat under any id, or none. */
  bodyDedupeId?: string
  runner?: string
  targetApp?: string
  /** Attributes of the runs that the event starts. */
  attributes?: Attributes
  /** The webhook receiver that took it in. */
  receiverId?: string
  /** The instant of the schedule that sends it. */
  scheduledAt?: number
  /** The caller's `traceparent`: the runs that the event starts continue that trace. */
  trace?: Traceparent
}

/** The event as it was sent. `runId`: the first run that it starts. */
interface Sent {
  eventId: string
  runId: string | undefined
}

/** The flow-control row that an event arrives for, and what becomes of the row in the same commit. */
export interface DueEvent {
  row: FlowRow
  /** The event arrives although the row has changed, unless the row is gone. Absent: only while the row is as given. */
  arrivesAnyway?: true
  after(row: FlowRow, sent: Sent): Change
}

/** The parts of the commit of an event beside its effects. */
interface Beside {
  due?: DueEvent
  /** Makes the unit durable, with more in it. */
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

  /** Resolves when the event and its effects are durable; a repeated dedupe id has no effect, nor has an event whose row is gone. */
  async send(namespace: string, incoming: IncomingEvent, beside?: Beside): Promise<SendEventReply> {
    const { clock, ids } = this.#deps
    const now = clock.now()
    return this.#traced(arrivedEvent(namespace, incoming, { id: ids.next('evt', now), now }), incoming, beside)
  }

  /**
   * Lets an event arrive whose time has come. Its row goes in the same commit, so that it arrives once: nothing happens if it has
   * arrived already, or was deleted. Its dedupe id was claimed when it was sent.
   */
  async arrive(row: FlowRow): Promise<void> {
    // The clock was set back since the claim: the event is not due any more, and is claimed again when it is.
    if (row.dueAt !== undefined && row.dueAt > this.#deps.clock.now())
      return saveClaimed(this.#deps, row, released(row, row.dueAt))
    const { id, dedupeId: _, ...incoming } = scheduledEvent(row)
    await this.arriveFor({ row, after: () => ({ type: 'flow.deleted', id: row.id }) }, id, incoming)
  }

  /**
   * Lets the event of a due row arrive in the commit that changes the row. Nothing happens if the row has changed since it was
   * claimed: then the next claim of it lets the event arrive, if it is still due.
   */
  async arriveFor(due: DueEvent, id: string, incoming: IncomingEvent): Promise<void> {
    const event = arrivedEvent(due.row.namespace, incoming, { id, now: this.#deps.clock.now() })
    await this.#traced(event, incoming, { due })
  }

  async #traced(event: UndecidedEvent, incoming: IncomingEvent, beside?: Beside): Promise<SendEventReply> {
    const { tracing, clock } = this.#deps
    const span = tracing && startEventSpan(tracing, event, incoming.trace)
    try {
      return await this.#take(event, span ? { ...incoming, trace: span.traceparent } : incoming, beside)
    } catch (error) {
      span?.fail(error instanceof EngineError ? error.code : 'internal')
      throw error
    } finally {
      span?.end(clock.now())
    }
  }

  async #take(event: UndecidedEvent, incoming: IncomingEvent, beside: Beside | undefined): Promise<SendEventReply> {
    const { due, commit } = beside ?? {}
    const { store, limiter, catalog, driver, announcer, clock, report } = this.#deps
    const { namespace, receivedAt: now } = event
    const dedupes = dedupeClaims(namespace, incoming, now)
    const creation = driver.leaseAtCreation()
    let row = due?.row
    let rowChange: Change | undefined
    let runId: string | undefined
    try {
      const spread = await decideAndCommit<Fanout>({
        store,
        namespace,
        limiter,
        catalog,
        decide: assumptions => {
          if (due && assumptions.flow.has(due.row.id)) {
            row = due.arrivesAnyway && (assumptions.flow.get(due.row.id) ?? undefined)
            if (!row) return undefined
          }
          return fanout({
            event,
            targetApp: incoming.targetApp,
            pin: incoming.runner,
            attributes: incoming.attributes,
            trace: incoming.trace,
            catalog: catalog.view(namespace),
            assumptions,
            now: clock.now(),
            report,
          })
        },
        questions: ({ questions }) => questions,
        // A repeat must not take a token of a rate limit.
        mayAsk: async () => !(await this.#isRepeat(dedupes)),
        unit: spread => {
          const unit: Unit = { guards: spread.guards, changes: [...spread.changes, ...spread.wakes] }
          for (const dedupe of dedupes) addDedupe(unit, dedupe)
          runId = firstRunOf(spread)
          if (due && row) {
            unit.guards.push({ type: 'flow', id: row.id, version: row.version })
            rowChange = due.after(row, { eventId: event.id, runId })
            unit.changes.push(rowChange)
          }
          creation.lease(unit.changes)
          return unit
        },
        ...(commit ? { commit: (unit: Unit) => commit(unit, { eventId: event.id, runId }) } : {}),
        onStale: () => false,
      })
      if (!spread) return { deduped: true }
      announcer.announce([...spread.changes, ...spread.wakes, ...(rowChange ? [rowChange] : [])])
      creation.start()
      return reply(event.id, spread)
    } finally {
      creation.release()
    }
  }

  async #isRepeat(dedupes: readonly DedupeClaim[]): Promise<boolean> {
    for (const { key } of dedupes) if (await this.#deps.store.isDeduped(key)) return true
    return false
  }
}

/** The event as it is recorded, without its effects. */
export function arrivedEvent(
  namespace: string,
  { name, app, receiverId, scheduledAt, data }: IncomingEvent,
  { id, now }: { id: string; now: number },
): UndecidedEvent {
  const source = scheduledAt === undefined ? 'api' : 'schedule'
  return { namespace, id, name, app, source, scheduledAt, receiverId, data, receivedAt: now }
}

/** The key that the event's dedupe id claims; undefined without one. */
export function dedupeKey(
  namespace: string,
  { app, dedupeId, dedupeScope = app ?? '' }: IncomingEvent,
  now: number,
): DedupeKey | undefined {
  return dedupeId === undefined ? undefined : { namespace, app: dedupeScope, dedupeId, now }
}

/** A key that must be free, and whether the event claims it. */
interface DedupeClaim {
  key: DedupeKey
  claims: boolean
}

/** A body is claimed with an id only: senders that give none may send the same body again. */
function dedupeClaims(namespace: string, incoming: IncomingEvent, now: number): readonly DedupeClaim[] {
  const key = dedupeKey(namespace, incoming, now)
  const { bodyDedupeId: dedupeId } = incoming
  const body = dedupeId === undefined ? undefined : dedupeKey(namespace, { ...incoming, dedupeId }, now)
  const claims = key === undefined ? [] : [{ key, claims: true }]
  return body === undefined ? claims : [...claims, { key: body, claims: key !== undefined }]
}

function addDedupe(unit: Unit, { key, claims }: DedupeClaim): void {
  const { now, ...id } = key
  unit.guards.push({ type: 'dedupe', ...key })
  if (claims) unit.changes.push({ type: 'dedupe.claimed', ...id, expiresAt: now + DEDUPE_WINDOW_MS })
}

function reply(eventId: string, { woke, triggered, suspended, warnings }: Fanout): SendEventReply {
  const runId = firstRunOf({ triggered })
  return {
    eventId,
    ...(runId === undefined ? flagsOf(triggered) : { runId }),
    woke,
    triggered: wireTriggered(triggered),
    ...(suspended ? { suspended } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

function firstRunOf({ triggered }: Pick<Fanout, 'triggered'>): string | undefined {
  return triggered.find(entry => entry.runId !== undefined)?.runId
}

/** The reasons why an event started no run, as its entries state them. */
function flagsOf(triggered: readonly Triggered[]): Partial<Record<(typeof POLICY_FLAGS)[number], true>> {
  return Object.fromEntries(POLICY_FLAGS.filter(flag => triggered.some(entry => entry[flag])).map(flag => [flag, true]))
}
