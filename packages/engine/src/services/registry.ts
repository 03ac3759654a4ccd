// Registrations and heartbeats of runners, and the listings of what they registered (contract §4.3).

import { keyFingerprint, PROTOCOL_VERSION, type RegisterReply, type RegisterRequest } from '@perdure/protocol'
import { invalid } from '../domain/errors.ts'
import {
  registeredRunner,
  registeredWorkflow,
  registrationChanges,
  registrationWarnings,
} from '../domain/registration.ts'
import type { App, Runner, Workflow } from '../domain/workflow.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { Announcer } from './announce.ts'
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
    const view = catalog.view(namespace)
    const peers = view.runners(request.app)
    const changes = registrationChanges({
      runner,
      workflows: workflows.filter(workflow => !isSame(workflow, view.workflow(workflow.app, workflow.name))),
      earlier: peers.find(peer => peer.runnerId === runner.runnerId),
      others: peers.filter(peer => peer.runnerId !== runner.runnerId),
    })
    await store.commit({ guards: [], changes })
    catalog.apply(changes)
    health.arrived(runner)
    announcer.announce(changes)
    const keyMatches = this.#keyMatches(runner)
    return {
      ok: true,
      protocolVersion: PROTOCOL_VERSION,
      runnerId: runner.runnerId,
      workflows: workflows.length,
      heartbeatMs: HEARTBEAT_MS,
      staleAfterMs,
      ...(keyMatches === undefined ? {} : { keyMatches }),
      warnings: registrationWarnings(workflows),
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

  workflows(namespace: string, app?: string): Workflow[] {
    const all = this.#deps.catalog.view(namespace).workflows()
    return app === undefined ? all : all.filter(workflow => workflow.app === app)
  }

  /** Whether the runner's heartbeat is inside the stale TTL. */
  isLive(runner: Runner): boolean {
    return this.#deps.clock.now() - runner.lastSeenAt <= this.#deps.staleAfterMs
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
