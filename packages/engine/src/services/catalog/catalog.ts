// Apps, runners, workflows, webhook endpoints and receivers in memory: filled from the store at start, changed after
// the commit of whatever changes them. Decisions read one namespace of it through `view`.

import { matchesEvent } from '../../domain/expressions/matching.ts'
import type { CatalogView } from '../../domain/model/catalog.ts'
import { type Change, changesCatalog } from '../../domain/model/change.ts'
import { type Endpoint, isSubscribed, type NoticeKind } from '../../domain/model/endpoint.ts'
import type { Receiver } from '../../domain/model/receiver.ts'
import type { App, Runner, Workflow } from '../../domain/model/workflow.ts'
import type { Configured, Store } from '../../ports/store.ts'

export interface CatalogOptions {
  /** Attempts a new webhook delivery gets. */
  deliveryAttemptsMax: number
}

export class Catalog {
  readonly #namespaces = new Map<string, NamespaceCatalog>()

  readonly #options: CatalogOptions
  /** By slug, of every namespace: a slug is a routing key. */
  readonly #receivers = new Map<string, Receiver>()
  #applied = 0
  #revision: number | undefined
  #tellNews: () => void = () => {}
  #look: () => Promise<boolean> = async () => true

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** `isShared`: other engines change the store's catalog too. */
  static async load(store: Store, options: CatalogOptions, isShared: boolean): Promise<Catalog> {
    const catalog = new Catalog(options)
    // Read first: what changes behind it is found missing.
    const revision = isShared ? await store.catalogRevision() : undefined
    catalog.replace(await store.catalog(), revision)
    return catalog
  }

  /** Told of every set of changes that another engine should know of. */
  onNews(tell: () => void): void {
    this.#tellNews = tell
  }

  /** How it is brought up to date with what other engines change; true when it was. */
  onRefresh(look: () => Promise<boolean>): void {
    this.#look = look
  }

  /** Takes over all that was committed before the call; false when it has to be tried again. */
  refresh(): Promise<boolean> {
    return this.#look()
  }

  /** Which revision of the store's catalog it holds at least, where other engines change that too. */
  get revision(): number | undefined {
    return this.#revision
  }

  /** How often it has taken over changes of this engine: what was read before the last of them is out of date. */
  get applied(): number {
    return this.#applied
  }

  /** Everything as the store has it. */
  replace({ apps, runners, workflows, endpoints, receivers }: Configured, revision?: number): void {
    this.#revision = revision
    for (const view of this.#namespaces.values()) view.clear()
    for (const app of apps) this.view(app.namespace).apps.set(app.name, app)
    for (const runner of runners) this.view(runner.namespace).putRunner(runner)
    for (const workflow of workflows) this.view(workflow.namespace).putWorkflow(workflow)
    this.replaceWebhooks({ endpoints, receivers })
  }

  view(namespace: string): NamespaceCatalog {
    let view = this.#namespaces.get(namespace)
    if (!view) {
      view = new NamespaceCatalog(namespace, this.#options, this)
      this.#namespaces.set(namespace, view)
    }
    return view
  }

  /** The runners of every namespace. */
  allRunners(): Runner[] {
    return [...this.#namespaces.values()].flatMap(view => view.allRunners())
  }

  /** Takes over what a committed unit registered. */
  apply(changes: readonly Change[]): void {
    this.#applied++
    for (const change of changes) {
      if (change.type === 'app.seen') this.view(change.app.namespace).seeApp(change.app)
      else if (change.type === 'runner.registered')
        this.view(change.runner.namespace).putRunner(change.runner)
      else if (change.type === 'runner.forgotten')
        this.view(change.namespace).dropRunner(change.app, change.runnerId)
      else if (change.type === 'workflow.registered')
        this.view(change.workflow.namespace).putWorkflow(change.workflow)
      else if (change.type === 'workflow.dropped')
        this.view(change.namespace).dropWorkflow(change.app, change.name)
      else if (change.type === 'endpoint.saved')
        this.view(change.endpoint.namespace).putEndpoint(change.endpoint)
      else if (change.type === 'endpoint.deleted') this.view(change.namespace).dropEndpoint(change.id)
      else if (change.type === 'receiver.saved') this.#putReceiver(change.receiver)
      else if (change.type === 'receiver.deleted') this.#dropReceiver(change.id)
    }
    if (changes.some(changesCatalog)) this.#tellNews()
  }

  /** Replaces the endpoints and receivers of every namespace by those of the store. */
  replaceWebhooks({ endpoints, receivers }: Pick<Configured, 'endpoints' | 'receivers'>): void {
    for (const view of this.#namespaces.values()) view.clearEndpoints()
    this.#receivers.clear()
    for (const endpoint of endpoints) this.view(endpoint.namespace).putEndpoint(endpoint)
    for (const receiver of receivers) this.#receivers.set(receiver.slug, receiver)
  }

  /** The receiver behind a public URL, whatever its namespace. */
  receiver(slug: string): Receiver | undefined {
    return this.#receivers.get(slug)
  }

  /** The namespace's receivers, oldest first. */
  receivers(namespace: string): Receiver[] {
    return [...this.#receivers.values()].filter(receiver => receiver.namespace === namespace).sort(byId)
  }

  /** Keeps a newer version: another engine's change may be known before this engine's commit resolves. */
  #putReceiver(receiver: Receiver): void {
    const known = this.#receivers.get(receiver.slug)
    if (known?.id !== receiver.id || known.version <= receiver.version)
      this.#receivers.set(receiver.slug, receiver)
  }

  #dropReceiver(id: string): void {
    for (const [slug, receiver] of this.#receivers) if (receiver.id === id) this.#receivers.delete(slug)
  }
}

/** Distinct event names whose matches are remembered per namespace; beyond it the memory starts anew. */
const MATCHES_MAX = 10_000

export class NamespaceCatalog implements CatalogView {
  readonly namespace: string
  /** Set by `Namespaces`. */
  suspended = false
  readonly deliveryAttemptsMax: number
  readonly apps = new Map<string, App>()
  readonly #workflows = new Map<string, Map<string, Workflow>>()
  readonly #runners = new Map<string, Map<string, Runner>>()
  readonly #matches = new Map<string, readonly Workflow[]>()

  readonly #endpoints = new Map<string, Endpoint>()
  readonly #whole: { readonly revision: number | undefined }

  constructor(namespace: string, options: CatalogOptions, whole: { readonly revision: number | undefined }) {
    this.namespace = namespace
    this.deliveryAttemptsMax = options.deliveryAttemptsMax
    this.#whole = whole
  }

  get revision(): number | undefined {
    return this.#whole.revision
  }

  workflow(app: string, name: string): Workflow | undefined {
    return this.#workflows.get(name)?.get(app)
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

  allRunners(): Runner[] {
    return [...this.#runners.values()].flatMap(runners => [...runners.values()])
  }

  triggeredBy(eventName: string): readonly Workflow[] {
    let matches = this.#matches.get(eventName)
    if (!matches) {
      matches = this.workflows().filter(({ triggers }) =>
        triggers.some(trigger => matchesEvent(trigger, eventName)),
      )
      if (this.#matches.size >= MATCHES_MAX) this.#matches.clear()
      this.#matches.set(eventName, matches)
    }
    return matches
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

  /** Forgets all that the store tells; whether the namespace is suspended stays. */
  clear(): void {
    for (const known of [this.apps, this.#workflows, this.#runners, this.#matches, this.#endpoints])
      known.clear()
  }

  seeApp(app: App): void {
    if (!this.apps.has(app.name)) this.apps.set(app.name, app)
  }

  putRunner(runner: Runner): void {
    entry(this.#runners, runner.app).set(runner.runnerId, runner)
  }

  dropRunner(app: string, runnerId: string): void {
    this.#runners.get(app)?.delete(runnerId)
  }

  putWorkflow(workflow: Workflow): void {
    entry(this.#workflows, workflow.name).set(workflow.app, workflow)
    this.#matches.clear()
  }

  dropWorkflow(app: string, name: string): void {
    this.#workflows.get(name)?.delete(app)
    this.#matches.clear()
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

function byNameThenApp(a: Workflow, b: Workflow): number {
  return compare(a.name, b.name) || compare(a.app, b.app)
}

/** Ids sort by creation. */
function byId(a: { id: string }, b: { id: string }): number {
  return compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
