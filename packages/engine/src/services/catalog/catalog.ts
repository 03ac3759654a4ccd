// Apps, runners, workflows, webhook endpoints and receivers in memory: read from the store at start, and updated after each
// commit that changes them. Decisions read one namespace of it through `view`.

import type { CatalogView } from '../../domain/model/catalog.ts'
import { type CatalogChange, type Change, changesCatalog } from '../../domain/model/change.ts'
import type { Receiver } from '../../domain/model/receiver.ts'
import type { DeletedWorkflow, Runner, Workflow } from '../../domain/model/workflow.ts'
import type { Configured, Store } from '../../ports/store.ts'
import { byId, NamespaceCatalog } from './namespace-catalog.ts'

/** The settings that decisions read with the catalog. */
type CatalogOptions = Pick<CatalogView, 'deliveryAttemptsMax' | 'generationsMax' | 'webhookAddresses'> &
  Partial<Pick<CatalogView, 'childGraceMs'>>

export class Catalog {
  /** Attempts of a new webhook delivery. */
  readonly deliveryAttemptsMax: number
  readonly generationsMax: number
  readonly childGraceMs: number
  readonly webhookAddresses: CatalogView['webhookAddresses']
  readonly #namespaces = new Map<string, NamespaceCatalog>()
  /** By slug, for all namespaces: a slug is a routing key. */
  readonly #receivers = new Map<string, Receiver>()
  #applied = 0
  #revision: number | undefined
  #notifyChanged: () => void = () => {}
  #refresh: () => Promise<boolean> = async () => true
  /** Resolves when `guardBy` has ended. */
  #guarded: Promise<void> | undefined

  constructor(options: CatalogOptions) {
    this.deliveryAttemptsMax = options.deliveryAttemptsMax
    this.generationsMax = options.generationsMax
    this.childGraceMs = options.childGraceMs ?? 0
    this.webhookAddresses = options.webhookAddresses
  }

  /** `isShared`: other engines change the store's catalog too. */
  static async load(store: Store, options: CatalogOptions, isShared: boolean): Promise<Catalog> {
    const catalog = new Catalog(options)
    // The revision is read first: the next refresh finds what changes after it.
    const revision = isShared ? await store.catalogRevision() : undefined
    catalog.replace(await store.catalog(), revision)
    return catalog
  }

  /** Sets the function that is called when this engine changed the catalog in a way that other engines should know. */
  onChanged(notify: () => void): void {
    this.#notifyChanged = notify
  }

  /** Sets the function that `refresh` calls where other engines change the catalog too. */
  refreshWith(refresh: () => Promise<boolean>): void {
    this.#refresh = refresh
  }

  /** Reads all that other engines committed before the call; false when it must be tried again. */
  refresh(): Promise<boolean> {
    return this.#guarded ? this.#guarded.then(() => this.refresh()) : this.#refresh()
  }

  /**
   * Guards every decision on the catalog by this revision of the store, where only this engine changes the catalog, until the
   * returned function is called. A decision that rested on a part that changed meanwhile is made again after that.
   */
  guardBy(revision: number): () => void {
    let end = () => {}
    this.#guarded = new Promise(resolve => {
      end = resolve
    })
    this.#revision = revision
    return () => {
      this.#revision = undefined
      this.#guarded = undefined
      end()
    }
  }

  /**
   * The revision of the store's catalog that this one has at least; undefined where no other engine changes the store's
   * catalog.
   */
  get revision(): number | undefined {
    return this.#revision
  }

  /** How often it has applied changes of this engine. A read that began before the last of these may lack some. */
  get applied(): number {
    return this.#applied
  }

  /** Replaces everything with the state of the store. */
  replace(
    { apps, stepLimits, runners, workflows, keptPauses, endpoints, receivers }: Configured,
    revision?: number,
  ): void {
    this.#revision = revision
    for (const view of this.#namespaces.values()) view.clear()
    for (const app of apps) this.view(app.namespace).apps.set(app.name, app)
    for (const limit of stepLimits) this.view(limit.namespace).putStepLimit(limit)
    for (const runner of runners) this.view(runner.namespace).putRunner(runner)
    for (const workflow of workflows) this.view(workflow.namespace).putWorkflow(workflow)
    for (const pause of keptPauses) this.view(pause.namespace).keepPause(pause)
    this.replaceWebhooks({ endpoints, receivers })
  }

  view(namespace: string): NamespaceCatalog {
    let view = this.#namespaces.get(namespace)
    if (!view) {
      view = new NamespaceCatalog(namespace, this)
      this.#namespaces.set(namespace, view)
    }
    return view
  }

  /** The runners of every namespace. */
  allRunners(): Runner[] {
    return [...this.#namespaces.values()].flatMap(view => view.allRunners())
  }

  /** Applies the changes of a committed unit. */
  apply(changes: readonly Change[]): void {
    this.#applied++
    for (const change of changes) this.#applyOne(change)
    if (changes.some(changesCatalog)) this.#notifyChanged()
  }

  /** Replaces the endpoints and receivers of every namespace with those in the store. */
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

  /** Keeps the pause and the operator's limits, which a registration does not contain. */
  #register(workflow: Workflow): void {
    const view = this.view(workflow.namespace)
    const { app, name } = workflow
    const { pausedAt, limits } = view.workflow(app, name) ?? view.keptPause(app, name) ?? {}
    view.dropPause(app, name)
    view.putWorkflow({ ...workflow, ...(pausedAt !== undefined && { pausedAt }), ...(limits && { limits }) })
  }

  /**
   * Keeps the list of deleted workflows, which a registration at the same time does not contain. An empty list is stored as
   * absent.
   */
  #registerRunner(
    named: Pick<Runner, 'namespace' | 'app' | 'runnerId'> | Runner,
    given?: readonly DeletedWorkflow[],
  ): void {
    const view = this.view(named.namespace)
    const known = view.runner(named.app, named.runnerId)
    const runner = 'url' in named ? named : known
    if (!runner) return
    const { deletedWorkflows: _, ...rest } = runner
    const deletedWorkflows = given ?? known?.deletedWorkflows ?? []
    view.putRunner(deletedWorkflows.length === 0 ? rest : { ...rest, deletedWorkflows: [...deletedWorkflows] })
  }

  #applyOne(change: Change): void {
    switch (change.type) {
      case 'app.seen':
        this.view(change.app.namespace).seeApp(change.app)
        break
      case 'runner.registered':
        this.#registerRunner(change.runner)
        break
      case 'runner.workflowsDeleted':
        this.#registerRunner(change, change.deletedWorkflows)
        break
      case 'runner.forgotten':
        this.view(change.namespace).dropRunner(change.app, change.runnerId)
        break
      case 'limits.registered': {
        const view = this.view(change.namespace)
        for (const limit of change.limits) view.putStepLimit(limit)
        for (const name of change.dropped) view.dropStepLimit(change.app, name)
        break
      }
      case 'workflow.registered':
        this.#register(change.workflow)
        break
      case 'workflow.paused':
      case 'workflow.resumed': {
        const view = this.view(change.namespace)
        const { pausedAt: _, ...workflow } = view.workflow(change.app, change.name) ?? {}
        const pause = change.type === 'workflow.paused' ? { pausedAt: change.pausedAt } : {}
        if ('name' in workflow) view.putWorkflow({ ...(workflow as Workflow), ...pause })
        break
      }
      case 'workflow.limitsSet': {
        const view = this.view(change.namespace)
        const workflow = view.workflow(change.app, change.name)
        if (!workflow) break
        const { limits: _, ...rest } = workflow
        view.putWorkflow({ ...rest, ...(change.limits && { limits: change.limits }) })
        break
      }
      case 'app.deleted':
        this.view(change.namespace).dropApp(change.app)
        break
      case 'workflow.dropped': {
        const { namespace, app, name } = change
        const { pausedAt, limits } = this.view(namespace).workflow(app, name) ?? {}
        this.view(namespace).dropWorkflow(app, name)
        const kept = { ...(pausedAt !== undefined && { pausedAt }), ...(limits && { limits }) }
        if (Object.keys(kept).length > 0) this.view(namespace).keepPause({ namespace, app, name, ...kept })
        break
      }
      case 'workflow.deleted':
        this.view(change.namespace).dropWorkflow(change.app, change.name)
        break
      case 'endpoint.saved':
        this.view(change.endpoint.namespace).putEndpoint(change.endpoint)
        break
      case 'endpoint.deleted':
        this.view(change.namespace).dropEndpoint(change.id)
        break
      case 'receiver.saved':
        this.#putReceiver(change.receiver)
        break
      case 'receiver.deleted':
        this.#dropReceiver(change.id)
        break
      default:
        // Does not compile if a change of the catalog has no case above.
        change satisfies Exclude<Change, CatalogChange>
    }
  }

  /** Keeps a newer version: another engine's change may be known before this engine's commit resolves. */
  #putReceiver(receiver: Receiver): void {
    const known = this.#receivers.get(receiver.slug)
    if (known?.id !== receiver.id || known.version <= receiver.version) this.#receivers.set(receiver.slug, receiver)
  }

  #dropReceiver(id: string): void {
    for (const [slug, receiver] of this.#receivers) if (receiver.id === id) this.#receivers.delete(slug)
  }
}
