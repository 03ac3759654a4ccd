// Schedules (docs/events.md#schedules): makes, changes and deletes schedules of the API and lets their events arrive. Also
// pauses, resumes and fires schedules of workflows. Called by the HTTP routes and by services/event/timers.

import type { SendEventReply } from '@perdure/protocol'
import {
  dueSchedule,
  type EventSchedule,
  eventSchedule,
  paused,
  recurrenceOf,
  redefined,
  resumed,
  type ScheduleDefinition,
  scheduleRow,
  scheduleRowId,
  scheduleSaved,
  setBack,
  withLast,
} from '../../domain/arrival/schedule/event-schedule.ts'
import { cronsOf, firedByHand, scheduleView, withPause } from '../../domain/arrival/schedules.ts'
import type { CatalogView } from '../../domain/model/catalog.ts'
import type { Unit } from '../../domain/model/change.ts'
import type { ControlKind } from '../../domain/model/control-action.ts'
import type { DecidedUnit } from '../../domain/model/decision.ts'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { type FlowRow, flowRowId } from '../../domain/model/flow-row.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import type { DueEvent, IncomingEvent, Ingest } from './ingest.ts'
import { saveClaimed } from './save-claimed.ts'

export interface SchedulesDeps
  extends Pick<Core, 'store' | 'catalog' | 'namespaces' | 'announcer' | 'clock' | 'ids' | 'audit' | 'report'> {
  ingest: Pick<Ingest, 'send' | 'arriveFor'>
}

/** A schedule as the caller gives it, and how it is put. */
export interface PutRequest extends ScheduleDefinition {
  /** An existing schedule is not replaced. */
  ifAbsent?: boolean
  /** Nothing is stored. */
  dryRun?: boolean
}

/** The effect of firing by hand: a schedule of a workflow starts a run, a schedule of the API sends an event. */
type Fired = Pick<SendEventReply, 'runId' | 'eventId' | 'triggered'>

export class Schedules {
  readonly #deps: SchedulesDeps

  constructor(deps: SchedulesDeps) {
    this.#deps = deps
  }

  /**
   * @throws EngineError `conflict` for the id of a workflow's schedule, and with `ifAbsent` for an id in use; `invalid_request`
   * if the schedule has no future instant.
   */
  async put(actor: Actor, id: string, { ifAbsent, dryRun, ...definition }: PutRequest): Promise<EventSchedule> {
    assertOwn(id)
    const { namespace } = actor
    const { clock, store } = this.#deps
    const decide = (stored: FlowRow | undefined) => {
      if (ifAbsent && stored) throw taken(id)
      const now = clock.now()
      const schedule = redefined(stored && eventSchedule(stored), definition, { id, now })
      // An interval counts from the creation, so the decision rests on the stored schedule.
      if (recurrenceOf(schedule).next(now) === undefined)
        throw definition.endsAt === undefined
          ? invalid('startsAt', 'must not be after the last scheduled time: the schedule would never fire')
          : invalid('endsAt', 'must be after the next scheduled time: the schedule would never fire')
      return { schedule, unit: unitOf(namespace, schedule, stored) }
    }
    if (dryRun) return decide(await store.flowRow(scheduleRowId(namespace, id))).schedule
    return this.#change(actor, 'schedule.put', id, decide)
  }

  /** @throws EngineError `not_found`, or `conflict` for the id of a workflow's schedule. */
  async delete(actor: Actor, id: string): Promise<void> {
    assertOwn(id)
    await this.#change(actor, 'schedule.delete', id, stored => {
      if (!stored) throw notFound()
      const unit: Unit = { guards: [guardOf(stored)], changes: [{ type: 'flow.deleted', id: stored.id }] }
      return { schedule: eventSchedule(stored), unit }
    })
  }

  /**
   * Pauses or resumes a schedule of either kind; pausing it again changes nothing.
   * @throws EngineError `not_found`, or `conflict` when the schedule to resume is not paused.
   */
  async setPaused(actor: Actor, id: string, isPaused: boolean): Promise<void> {
    const action = isPaused ? 'schedule.pause' : 'schedule.resume'
    const { namespace } = actor
    const { clock } = this.#deps
    const cron = await this.#cronOf(namespace, id)
    if (cron) {
      await this.#commit(actor, action, id, async () => {
        const row = await this.#cronRow(cron)
        if (!isPaused && !scheduleView(row).paused) throw notPaused(id)
        return { guards: [guardOf(row)], changes: [withPause(row, isPaused, clock.now())] }
      })
      return
    }
    await this.#change(actor, action, id, stored => {
      if (!stored) throw notFound()
      const before = eventSchedule(stored)
      if (!isPaused && !before.paused) throw notPaused(id)
      const schedule = isPaused ? paused(before) : resumed(before, clock.now())
      return { schedule, unit: unitOf(namespace, schedule, stored) }
    })
  }

  /** @throws EngineError `not_found`, `namespace_suspended`, or `already_running` for a cron whose workflow is a singleton. */
  async fire(actor: Actor, id: string): Promise<Fired> {
    const { namespace } = actor
    const { store, catalog, clock, ids, ingest, report, namespaces, audit } = this.#deps
    namespaces.assertActive(namespace)
    const now = clock.now()
    const cron = await this.#cronOf(namespace, id)
    if (cron) {
      const runId = ids.nextAt('run', now)
      await this.#commit(actor, 'schedule.fire', id, async assumptions => {
        const row = await this.#cronRow(cron)
        const { workflow } = cron
        const view = catalog.view(namespace)
        return firedByHand({ row, workflow, runId, now, report, catalog: view, assumptions })
      })
      return { runId }
    }
    const row = await store.flowRow(scheduleRowId(namespace, id))
    if (!row) throw notFound()
    const fired = await ingest.send(namespace, sentBy(eventSchedule(row), now), {
      due: {
        row,
        arrivesAnyway: true,
        after: (row, sent) =>
          scheduleSaved(namespace, withLast(eventSchedule(row), { at: now, instant: now, ...sent }), row),
      },
      commit: (unit, { eventId, runId }) => {
        const detail = JSON.stringify({ id, eventId })
        const act = { action: 'schedule.fire', detail, ...(runId === undefined ? {} : { newRunId: runId }) } as const
        return audit.commit(actor, unit, act)
      },
    })
    // The schedule was deleted meanwhile.
    if (fired.eventId === undefined) throw notFound()
    return fired
  }

  /** Lets the event of a due schedule arrive, and moves the schedule on in the same commit. */
  async arrive(row: FlowRow): Promise<void> {
    const { clock, ids, ingest } = this.#deps
    const { namespace } = row
    const now = clock.now()
    const stored = eventSchedule(row)
    // The clock was set back since the claim.
    const { instant, after } = dueSchedule(stored, now) ?? { after: setBack(stored, now) }
    if (instant === undefined) return saveClaimed(this.#deps, row, scheduleRow(namespace, after, row))
    const eventId = ids.next('evt', now)
    const moved: DueEvent['after'] = (row, sent) =>
      scheduleSaved(namespace, withLast(after, { at: now, instant, ...sent }), row)
    await ingest.arriveFor({ row, after: moved }, eventId, sentBy(after, instant))
  }

  /**
   * Changes a schedule of the API. The decision rests on the stored row, and is repeated if another caller has changed the row
   * meanwhile.
   */
  async #change(
    actor: Actor,
    action: ControlKind,
    id: string,
    decide: (stored: FlowRow | undefined) => { schedule: EventSchedule; unit: Unit },
  ): Promise<EventSchedule> {
    const rowId = scheduleRowId(actor.namespace, id)
    let schedule: EventSchedule | undefined
    await this.#commit(actor, action, id, async () => {
      const decided = decide(await this.#deps.store.flowRow(rowId))
      schedule = decided.schedule
      return decided.unit
    })
    return schedule as EventSchedule
  }

  async #commit(
    actor: Actor,
    action: ControlKind,
    id: string,
    decide: (assumptions: Assumptions) => Promise<DecidedUnit>,
  ): Promise<void> {
    const { store, announcer, audit } = this.#deps
    const unit = await decideAndCommit<DecidedUnit>({
      store,
      decide,
      commit: unit => audit.commit(actor, unit, actOf(action, id, unit)),
      onStale: () => true,
    })
    if (unit) announcer.announce(unit.changes)
  }

  /**
   * Returns the workflow and the cron that `wf:<app>:<workflow>:<n>` names; undefined for an id of another form.
   * @throws EngineError `not_found`.
   */
  async #cronOf(namespace: string, id: string): Promise<Cron | undefined> {
    if (!isCronId(id)) return undefined
    const { catalog } = this.#deps
    const known = cronIn(catalog.view(namespace), id)
    if (known) return known
    // Another engine may have registered the workflow a moment ago.
    await catalog.refresh()
    const cron = cronIn(catalog.view(namespace), id)
    if (!cron) throw notFound()
    return cron
  }

  async #cronRow({ workflow, cron: key }: Cron): Promise<FlowRow> {
    const { namespace, app, name } = workflow
    const row = await this.#deps.store.flowRow(flowRowId({ namespace, app, workflow: name, policy: 'cron', key }))
    if (!row) throw notFound()
    return row
  }
}

/** A cron trigger of a workflow. */
interface Cron {
  workflow: Workflow
  cron: string
}

/** The cron whose id is exactly this one: `wf:shop:bill:00` is no id. */
function cronIn(view: Pick<CatalogView, 'workflow'>, id: string): Cron | undefined {
  const parts = id.split(':')
  const n = Number(parts.pop())
  const [, app = '', ...name] = parts
  const workflow = view.workflow(app.replace(ESCAPE, unescaped), name.join(':'))
  const cron = workflow && [...cronsOf(workflow)][n]
  if (!workflow || cron === undefined || cronScheduleId(workflow, n) !== id) return undefined
  return { workflow, cron }
}

/** The id of the n-th cron of a workflow. A colon in the app's name is escaped, so that no other workflow has the same id. */
export function cronScheduleId({ app, name }: Pick<Workflow, 'app' | 'name'>, n: number): string {
  return `wf:${app.replace(ESCAPED, encodeURIComponent)}:${name}:${n}`
}

/** A colon, and a percent sign that would read as the start of an escape. */
const ESCAPED = /:|%(?=25|3A)/g
const ESCAPE = /%25|%3A/g
const unescaped = (text: string) => (text === '%3A' ? ':' : '%')

export function isCronId(id: string): boolean {
  return id.startsWith('wf:')
}

function assertOwn(id: string): void {
  if (isCronId(id))
    throw new EngineError('conflict', 'a schedule of a workflow can only be changed by its registration')
}

function taken(id: string): EngineError {
  return new EngineError('conflict', `There is a schedule ${id} already.`, { details: { field: 'id' } })
}

function notPaused(id: string): EngineError {
  return new EngineError('conflict', `The schedule ${id} is not paused.`)
}

function notFound(): EngineError {
  return new EngineError('not_found', 'no such schedule')
}

function guardOf({ id, version }: FlowRow): Unit['guards'][number] {
  return { type: 'flow', id, version }
}

function unitOf(namespace: string, schedule: EventSchedule, stored: FlowRow | undefined): Unit {
  const guard = { type: 'flow', id: scheduleRowId(namespace, schedule.id), version: stored?.version ?? 0 } as const
  return { guards: [guard], changes: [scheduleSaved(namespace, schedule, stored)] }
}

function sentBy({ eventName, eventApp, eventData }: EventSchedule, scheduledAt: number): IncomingEvent {
  return {
    name: eventName,
    scheduledAt,
    ...(eventApp === undefined ? {} : { app: eventApp }),
    ...(eventData === undefined ? {} : { data: eventData }),
  }
}

/** The audit entry; for a schedule that was fired it names the run. */
function actOf(action: ControlKind, id: string, { changes }: Unit) {
  const created = changes.find(change => change.type === 'run.created')
  return { action, detail: JSON.stringify({ id }), ...(created ? { newRunId: created.run.id } : {}) }
}
