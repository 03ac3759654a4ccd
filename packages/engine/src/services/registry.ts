// Registrations and heartbeats of runners, and the listings of what they registered (contract §4.3).

import { keyFingerprint, PROTOCOL_VERSION, type RegisterReply, type RegisterRequest } from '@perdure/protocol'
import type { Unit } from '../domain/change.ts'
import { invalid, invariant } from '../domain/errors.ts'
import { type ScheduleView, scheduleMoves, scheduleView } from '../domain/flow/schedules.ts'
import type { Known } from '../domain/known.ts'
import { registeredRunner, registeredWorkflow, registrationChanges } from '../domain/registration.ts'
import type { App, Runner, Workflow } from '../domain/workflow.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
import { attempt } from './attempt.ts'
import type { Catalog } from './catalog.ts'
import type { RunnerHealth } from './runner-health.ts'

/** How often a runner is asked to repeat its registration. */
export const HEARTBEAT_MS = 30_000

export interface RegistryDeps {
  store: Store
  catalog: Catalog
  announcer: Announcer
  health: RunnerHealth
  clock: Clock
  staleAfterMs: number
  signingKeys: readonly string[]
}

export class Registry {
  readonly #deps: RegistryDeps

  constructor(deps: RegistryDeps) {
    this.#deps = deps
  }

  async register(namespace: string, request: RegisterRequest): Promise<RegisterReply> {
    const { store, catalog, announcer, health, clock, staleAfterMs } = this.#deps
    refuseDoubles(request)
    const now = clock.now()
    const runner = registeredRunner(namespace, request, now)
    const workflows = request.workflows.map((registration, i) =>
      registeredWorkflow({ namespace, app: request.app, registration, field: `workflows[${i}]`, now }),
    )
    const registered = await attempt<Unit>({
      store,
      decide: known => this.#decide(runner, workflows, known),
      unit: unit => unit,
      onStale: () => false,
    })
    invariant(registered, 'a registration rests on nothing but schedules')
    catalog.apply(registered.changes)
    health.arrived(runner)
    announcer.announce(registered.changes)
    const keyMatches = this.#keyMatches(runner)
    return {
      ok: true,
      protocolVersion: PROTOCOL_VERSION,
      runnerId: runner.runnerId,
      workflows: workflows.length,
      heartbeatMs: HEARTBEAT_MS,
      staleAfterMs,
      ...(keyMatches === undefined ? {} : { keyMatches }),
      warnings: [],
    }
  }

  apps(namespace: string): App[] {
    return [...this.#deps.catalog.view(namespace).apps.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  runners(namespace: string, app?: string): (Runner & { live: boolean; keyMatches?: boolean })[] {
    const view = this.#deps.catalog.view(namespace)
    return (app === undefined ? view.allRunners() : view.runners(app)).map(runner => {
      const keyMatches = this.#keyMatches(runner)
      return { ...runner, live: this.isLive(runner), ...(keyMatches === undefined ? {} : { keyMatches }) }
    })
  }

  async workflows(namespace: string, app?: string): Promise<(Workflow & { schedules: ScheduleView[] })[]> {
    const { store, catalog } = this.#deps
    const rows = await store.in(namespace).schedules()
    const workflows = catalog.view(namespace).workflows()
    const listed = app === undefined ? workflows : workflows.filter(workflow => workflow.app === app)
    return listed.map(workflow => {
      const own = rows.filter(row => row.app === workflow.app && row.workflow === workflow.name)
      return { ...workflow, schedules: own.map(scheduleView) }
    })
  }

  /** Whether the runner's heartbeat is inside the stale TTL. */
  isLive(runner: Runner): boolean {
    return this.#deps.clock.now() - runner.lastSeenAt <= this.#deps.staleAfterMs
  }

  #decide(runner: Runner, workflows: readonly Workflow[], known: Known): Unit {
    const { catalog } = this.#deps
    const view = catalog.view(runner.namespace)
    const peers = view.runners(runner.app)
    const changes = registrationChanges({
      runner,
      workflows: workflows.filter(workflow => !isSame(workflow, view.workflow(workflow.app, workflow.name))),
      earlier: peers.find(peer => peer.runnerId === runner.runnerId),
      others: peers.filter(peer => peer.runnerId !== runner.runnerId),
    })
    const before = (app: string, name: string) => view.workflow(app, name)
    const moves = scheduleMoves({ changes, before, known, now: runner.lastSeenAt })
    return { guards: moves.guards, changes: [...changes, ...moves.changes] }
  }

  #keyMatches(runner: Runner): boolean | undefined {
    const { signingKeys } = this.#deps
    if (runner.keyFingerprint === undefined || signingKeys.length === 0) return undefined
    return signingKeys.some(key => keyFingerprint(key) === runner.keyFingerprint)
  }
}

/** A heartbeat repeats definitions word for word: those need no write, and keep their `updatedAt`. */
function isSame(workflow: Workflow, known: Workflow | undefined): boolean {
  return (
    known !== undefined &&
    JSON.stringify({ ...workflow, updatedAt: known.updatedAt }) === JSON.stringify(known)
  )
}

function refuseDoubles(request: RegisterRequest): void {
  const names = new Set<string>()
  for (const [i, { name }] of request.workflows.entries()) {
    if (names.has(name)) throw invalid(`workflows[${i}].name`, `"${name}" is registered twice`)
    names.add(name)
  }
}
