// Starts workflows with events of the log (docs/events.md#redrive): one event, or all events of a name. A guard of each run
// ensures that bulk calls start a workflow at most once for each event, despite repeated calls, crashes and several engines.
// Called by the HTTP routes.

import type { BulkRedriveReply } from '@perdure/protocol'
import { arrivingAlone } from '../../domain/arrival/buffer.ts'
import { startAlone, startTogether } from '../../domain/arrival/singleton.ts'
import type { Guard } from '../../domain/model/change.ts'
import type { UnitWithQuestions } from '../../domain/model/decision.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { Event } from '../../domain/model/event.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Workflow } from '../../domain/model/workflow.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import { eventRun } from '../../domain/run/create.ts'
import { optionalTimestamp, timestamp } from '../../domain/text/timestamp.ts'
import type { RedrivableEvent } from '../../ports/redrive-reads.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Maximum runs that one call starts. */
const STARTS_MAX = 1000
/** Events in one read, and runs in one commit. */
const PAGE = 500
const BATCH = 20

export interface RedriveTarget {
  workflow: string
  app?: string
}

export interface BulkRedrive extends RedriveTarget {
  name: string
  since: number
  until?: number
}

type RedriveDeps = Pick<
  Core,
  'store' | 'catalog' | 'namespaces' | 'announcer' | 'clock' | 'ids' | 'log' | 'audit' | 'report'
>

interface Decided extends UnitWithQuestions {
  runs: Run[]
}

type Counts = Omit<BulkRedriveReply, 'capped'>

export class Redrive {
  readonly #deps: RedriveDeps

  constructor(deps: RedriveDeps) {
    this.#deps = deps
  }

  /**
   * Starts one run.
   * @throws EngineError `not_found`, `conflict` for an erased event or a signal, `already_running`, `namespace_suspended`.
   */
  async one(actor: Actor, eventId: string, target: RedriveTarget): Promise<Run> {
    const { store, announcer, audit } = this.#deps
    const { app, name: workflow } = await this.#workflow(actor.namespace, target)
    const event = await store.in(actor.namespace).event(eventId)
    if (!event) throw new EngineError('not_found', `There is no event ${eventId}.`)
    if (event.runId !== undefined)
      throw new EngineError('conflict', `Event ${eventId} is a signal: only its run can receive it.`)
    if (event.erased) throw new EngineError('conflict', `The data of event ${eventId} was erased.`)
    const at = { actor, events: () => [event], app, workflow }
    const decided = await this.#commit({
      ...at,
      isAlone: true,
      guards: [],
      commit: unit => {
        const newRunId = unit.runs[0]?.id
        const act = { action: 'event.redrive', detail: JSON.stringify({ eventId, app, workflow }) } as const
        return audit.commit(actor, unit, newRunId === undefined ? act : { ...act, newRunId })
      },
      onStale: () => false,
    })
    announcer.announce(decided.changes)
    return decided.runs[0] as Run
  }

  /** Starts a run with each event that has not started the workflow, oldest first. */
  async many(
    actor: Actor,
    { name, since, until, ...target }: BulkRedrive,
    { isDryRun, signal }: { isDryRun: boolean; signal: AbortSignal },
  ): Promise<BulkRedriveReply> {
    const { app, name: workflow } = await this.#workflow(actor.namespace, target)
    const { store, clock, audit } = this.#deps
    const reads = store.in(actor.namespace)
    // The triggers decide on events that arrive during the call.
    const query = { name, since, until: until ?? clock.now() + 1, app, workflow }
    const found: string[] = []
    const counts: Counts = { matched: 0, started: 0, skipped: 0, failed: 0 }
    let capped = false
    for (let after = -1; ; ) {
      const page = await reads.redrivable({ ...query, after, limit: PAGE }, signal).catch(error => {
        // Enough events are found: the rest is only counted, if time allows.
        if (capped && signal.aborted) return []
        throw error
      })
      for (const event of page) {
        counts.matched++
        if (!isUnstarted(event, { app, workflow })) counts.skipped++
        else if (found.length < STARTS_MAX) found.push(event.id)
        else capped = true
      }
      if (page.length < PAGE) break
      after = page.at(-1)?.position as number
    }
    if (isDryRun) return { ...counts, started: found.length, capped }
    const detail = () =>
      JSON.stringify({
        name,
        app,
        workflow,
        since: timestamp(since),
        until: optionalTimestamp(until),
        ...counts,
        capped,
      })
    const entry = audit.entry(actor, { action: 'event.redrive' })
    for (let at = 0; at < found.length; at += BATCH) {
      await this.#startAll(actor, {
        ids: found.slice(at, at + BATCH),
        app,
        workflow,
        counts,
        record: unit => audit.record(unit, { ...entry, detail: detail() }),
      })
    }
    await audit.record({ guards: [], changes: [] }, { ...entry, detail: detail() })
    return { ...counts, capped }
  }

  /** Starts one batch. Runs whose guard fails are skipped, since another call or a trigger was first. */
  async #startAll(
    actor: Actor,
    batch: {
      ids: readonly string[]
      app: string
      workflow: string
      counts: Counts
      record(unit: Decided): Promise<void>
    },
  ): Promise<void> {
    const { store, announcer, log } = this.#deps
    const { ids, app, workflow, counts, record } = batch
    const read = await Promise.all(ids.map(id => store.in(actor.namespace).event(id)))
    let events = read.filter((event): event is Event => event !== undefined && !event.erased)
    counts.skipped += ids.length - events.length
    const before = { ...counts }
    try {
      const decided = await this.#commit({
        actor,
        app,
        workflow,
        events: () => events,
        guards: events => events.map(({ id }) => ({ type: 'unstarted', eventId: id, app, workflow })),
        commit: unit => {
          counts.started = before.started + unit.runs.length
          return record(unit)
        },
        onStale: guard => {
          if (guard.type !== 'unstarted') return false
          events = events.filter(({ id }) => id !== guard.eventId)
          counts.skipped++
          return true
        },
      })
      counts.started = before.started + decided.runs.length
      // A singleton has a live run.
      counts.skipped += events.length - decided.runs.length
      announcer.announce(decided.changes)
    } catch (error) {
      if (error instanceof EngineError && error.code !== 'internal') throw error
      counts.started = before.started
      counts.failed += events.length
      log.error({ err: error, app, workflow }, 'events were not redriven')
    }
  }

  async #commit(options: {
    actor: Actor
    app: string
    workflow: string
    /** Whether a singleton refuses the call, instead of only skipping the run. */
    isAlone?: true
    events(): readonly Event[]
    guards: Guard[] | ((events: readonly Event[]) => Guard[])
    commit(unit: Decided): Promise<void>
    onStale(guard: Guard): boolean
  }): Promise<Decided> {
    const { store, catalog, clock, ids, report, namespaces } = this.#deps
    const { namespace, trace } = options.actor
    let decision: Decided = { guards: [], changes: [], questions: [], runs: [] }
    await decideAndCommit<Decided>({
      store,
      namespace,
      catalog,
      decide: assumptions => {
        namespaces.assertActive(namespace)
        const view = catalog.view(namespace)
        const workflow = view.workflow(options.app, options.workflow)
        if (!workflow) throw noWorkflow(options)
        const events = options.events()
        const runs = events.map(event => {
          const now = clock.now()
          const { runner: pin, attributes } = event.decided ?? {}
          const later = { id: ids.nextAt('run', now), now }
          return eventRun({ ...arrivingAlone(workflow, event), workflow, pin, attributes, trace, report, later })
        })
        const own = typeof options.guards === 'function' ? options.guards(events) : options.guards
        const created = runs.map(run => ({ run, changes: [{ type: 'run.created', run } as const] }))
        const facts = { workflow, report, assumptions, catalog: view, now: clock.now() }
        const [first] = created
        const unit =
          options.isAlone && first
            ? { ...startAlone(first, facts), started: [first] }
            : startTogether(created, () => facts)
        decision = {
          guards: [...catalogGuards(view, assumptions), ...own, ...unit.guards],
          changes: unit.changes,
          questions: unit.questions,
          runs: unit.started.map(({ run }) => run),
        }
        return runs.length === 0 ? undefined : decision
      },
      commit: () => options.commit(decision),
      onStale: options.onStale,
    })
    return decision
  }

  async #workflow(namespace: string, { workflow: name, app }: RedriveTarget): Promise<Workflow> {
    const { catalog, namespaces } = this.#deps
    namespaces.assertActive(namespace)
    await catalog.refresh()
    const view = catalog.view(namespace)
    const apps = app === undefined ? view.appsWith(name) : [app]
    if (apps.length > 1) {
      const message = `app is required: the apps ${apps.join(', ')} have a workflow ${name}`
      throw new EngineError('invalid_request', message, { details: { field: 'app' } })
    }
    const workflow = apps[0] === undefined ? undefined : view.workflow(apps[0], name)
    if (!workflow) throw noWorkflow({ workflow: name, app })
    return workflow
  }
}

function noWorkflow({ workflow, app }: { workflow: string; app?: string | undefined }): EngineError {
  return new EngineError('not_found', `There is no workflow ${workflow}${app === undefined ? '' : ` of app ${app}`}.`)
}

/** Whether no trigger, buffer or redrive has started the workflow with the event. */
function isUnstarted(event: RedrivableEvent, { app, workflow }: { app: string; workflow: string }): boolean {
  if (event.isStarted || event.erased) return false
  const entry = event.triggered.find(one => one.workflow === workflow && one.app === app)
  return !(entry && (entry.runId !== undefined || entry.debounced || entry.batched))
}
