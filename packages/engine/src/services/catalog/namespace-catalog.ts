// The catalog of one namespace, which decisions read (domain/model/catalog). Filled by catalog.ts.

import { matchesEvent } from '../../domain/expressions/matching.ts'
import type { CatalogView } from '../../domain/model/catalog.ts'
import { type Endpoint, isSubscribed, type NoticeKind } from '../../domain/model/endpoint.ts'
import type { App, KeptPause, Runner, StepLimit, Workflow } from '../../domain/model/workflow.ts'
import { withoutDeleted } from '../../domain/registry/deletion.ts'
import { type Kept, keptBytes } from '../../domain/registry/registration-bounds.ts'
import { signalOf } from '../../domain/text/name.ts'

/** Event names of a namespace whose matches are kept in memory; beyond this number all are forgotten. */
const CATALOG_MATCHES_MAX = 10_000

const NO_LIMITS: ReadonlyMap<string, StepLimit> = new Map()

/** The part that all namespaces share. */
type Whole = Pick<
  CatalogView,
  'revision' | 'deliveryAttemptsMax' | 'generationsMax' | 'childGraceMs' | 'webhookAddresses'
>

export class NamespaceCatalog implements CatalogView {
  readonly namespace: string
  /** Set by `Namespaces`. */
  suspended = false
  readonly deliveryAttemptsMax: number
  readonly generationsMax: number
  readonly childGraceMs: number
  readonly webhookAddresses: CatalogView['webhookAddresses']
  readonly apps = new Map<string, App>()
  readonly #workflows = new Map<string, Map<string, Workflow>>()
  readonly #runners = new Map<string, Map<string, Runner>>()
  /** By app and name. */
  readonly #stepLimits = new Map<string, Map<string, StepLimit>>()
  /** By app and name: pauses of workflows that are not registered. */
  readonly #keptPauses = new Map<string, Map<string, KeptPause>>()
  readonly #matches = new Map<string, readonly Workflow[]>()

  readonly #endpoints = new Map<string, Endpoint>()
  #kept = { workflows: 0, triggers: 0, runners: 0, bytes: 0 }
  readonly #whole: Whole

  constructor(namespace: string, whole: Whole) {
    this.namespace = namespace
    this.deliveryAttemptsMax = whole.deliveryAttemptsMax
    this.generationsMax = whole.generationsMax
    this.childGraceMs = whole.childGraceMs
    this.webhookAddresses = whole.webhookAddresses
    this.#whole = whole
  }

  get revision(): number | undefined {
    return this.#whole.revision
  }

  /** Everything that registrations store here. */
  get kept(): Readonly<Kept> {
    return { ...this.#kept, apps: this.apps.size }
  }

  runner(app: string, runnerId: string): Runner | undefined {
    return this.#runners.get(app)?.get(runnerId)
  }

  workflow(app: string, name: string): Workflow | undefined {
    return this.#workflows.get(name)?.get(app)
  }

  isPaused(app: string, name: string): boolean {
    return (this.workflow(app, name)?.pausedAt ?? this.keptPause(app, name)?.pausedAt) !== undefined
  }

  /** The pause and the operator's limits of a workflow that is not registered. */
  keptPause(app: string, name: string): KeptPause | undefined {
    return this.#keptPauses.get(app)?.get(name)
  }

  keepPause(kept: KeptPause): void {
    entry(this.#keptPauses, kept.app).set(kept.name, kept)
  }

  dropPause(app: string, name: string): void {
    removeEntry(this.#keptPauses, app, name)
  }

  workflowNames(): readonly string[] {
    return [...this.#workflows.keys()]
  }

  appsWith(workflowName: string): readonly string[] {
    return [...(this.#workflows.get(workflowName)?.keys() ?? [])].sort()
  }

  /** Every workflow, sorted by name, then app. */
  workflows(): Workflow[] {
    return [...this.#workflows.values()].flatMap(byApp => [...byApp.values()]).sort(byNameThenApp)
  }

  runners(app: string): readonly Runner[] {
    return [...(this.#runners.get(app)?.values() ?? [])]
  }

  stepLimits(app: string): ReadonlyMap<string, StepLimit> {
    return this.#stepLimits.get(app) ?? NO_LIMITS
  }

  putStepLimit(limit: StepLimit): void {
    entry(this.#stepLimits, limit.app).set(limit.name, limit)
  }

  dropStepLimit(app: string, name: string): void {
    removeEntry(this.#stepLimits, app, name)
  }

  allRunners(): Runner[] {
    return [...this.#runners.values()].flatMap(runners => [...runners.values()])
  }

  triggeredBy(eventName: string): readonly Workflow[] {
    // The name of a signal in the log contains a run id, so nobody would look for it again.
    if (signalOf(eventName) !== undefined) return []
    let matches = this.#matches.get(eventName)
    if (!matches) {
      matches = this.workflows().filter(({ triggers }) => triggers.some(trigger => matchesEvent(trigger, eventName)))
      if (this.#matches.size >= CATALOG_MATCHES_MAX) this.#matches.clear()
      this.#matches.set(eventName, matches)
    }
    return matches
  }

  triggerNames(): readonly string[] {
    return [...new Set(this.workflows().flatMap(({ triggers }) => triggers.flatMap(({ event }) => event ?? [])))]
  }

  subscribers(kind: NoticeKind, app: string): readonly Endpoint[] {
    if (this.#endpoints.size === 0) return []
    return [...this.#endpoints.values()].filter(endpoint => isSubscribed(endpoint, kind, app))
  }

  endpoint(id: string): Endpoint | undefined {
    return this.#endpoints.get(id)
  }

  /** Oldest first. */
  endpoints(): Endpoint[] {
    return [...this.#endpoints.values()].sort(byId)
  }

  /** Keeps a newer version: another engine's change may be known before this engine's commit resolves. */
  putEndpoint(endpoint: Endpoint): void {
    const known = this.#endpoints.get(endpoint.id)
    if (!known || known.version <= endpoint.version) this.#endpoints.set(endpoint.id, endpoint)
  }

  dropEndpoint(id: string): void {
    this.#endpoints.delete(id)
  }

  clearEndpoints(): void {
    this.#endpoints.clear()
  }

  /** Removes everything that comes from the store's catalog; `suspended` stays. */
  clear(): void {
    const all = [
      this.apps,
      this.#stepLimits,
      this.#workflows,
      this.#runners,
      this.#keptPauses,
      this.#matches,
      this.#endpoints,
    ]
    for (const known of all) known.clear()
    this.#kept = { workflows: 0, triggers: 0, runners: 0, bytes: 0 }
  }

  seeApp(app: App): void {
    if (!this.apps.has(app.name)) this.apps.set(app.name, app)
  }

  dropApp(name: string): void {
    this.apps.delete(name)
    this.#keptPauses.delete(name)
    this.#stepLimits.delete(name)
  }

  /** Leaves out deleted workflows: the row of a runner that registered during the deletion may still name them. */
  putRunner(stored: Runner): void {
    const runner = withoutDeleted(stored)
    const earlier = this.runner(runner.app, runner.runnerId)
    if (earlier) this.#countRunner(earlier, -1)
    entry(this.#runners, runner.app).set(runner.runnerId, runner)
    this.#countRunner(runner, 1)
  }

  dropRunner(app: string, runnerId: string): void {
    const runner = this.runner(app, runnerId)
    if (runner === undefined) return
    removeEntry(this.#runners, app, runnerId)
    this.#countRunner(runner, -1)
  }

  putWorkflow(workflow: Workflow): void {
    const earlier = this.workflow(workflow.app, workflow.name)
    if (earlier) this.#countWorkflow(earlier, -1)
    entry(this.#workflows, workflow.name).set(workflow.app, workflow)
    this.#countWorkflow(workflow, 1)
    this.#matches.clear()
  }

  dropWorkflow(app: string, name: string): void {
    const workflow = this.workflow(app, name)
    if (workflow === undefined) return
    removeEntry(this.#workflows, name, app)
    this.#countWorkflow(workflow, -1)
    this.#matches.clear()
  }

  #countRunner(runner: Runner, by: 1 | -1): void {
    this.#kept.runners += by
    this.#kept.bytes += by * keptBytes(runner)
  }

  #countWorkflow(workflow: Workflow, by: 1 | -1): void {
    this.#kept.workflows += by
    this.#kept.triggers += by * workflow.triggers.length
    this.#kept.bytes += by * keptBytes(workflow)
  }
}

function entry<V>(maps: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let map = maps.get(key)
  if (!map) {
    map = new Map()
    maps.set(key, map)
  }
  return map
}

/** Removes the entry, and also its map if that becomes empty: names come and go. */
function removeEntry<V>(maps: Map<string, Map<string, V>>, key: string, innerKey: string): void {
  const map = maps.get(key)
  map?.delete(innerKey)
  if (map?.size === 0) maps.delete(key)
}

function byNameThenApp(a: Workflow, b: Workflow): number {
  return compare(a.name, b.name) || compare(a.app, b.app)
}

/** Compares by id. Ids sort by creation. */
export function byId(a: { id: string }, b: { id: string }): number {
  return compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
