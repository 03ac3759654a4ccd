// Apps, runners and workflows in memory: filled from the store at start, changed by registrations after their
// commit. Decisions read one namespace of it through `view`.

import type { CatalogView } from '../domain/catalog.ts'
import type { Change } from '../domain/change.ts'
import { matchesEvent } from '../domain/matching.ts'
import type { App, Runner, Workflow } from '../domain/workflow.ts'
import type { Store } from '../ports/store.ts'

export class Catalog {
  readonly #namespaces = new Map<string, NamespaceCatalog>()

  static async load(store: Store): Promise<Catalog> {
    const catalog = new Catalog()
    const { apps, runners, workflows } = await store.catalog()
    for (const app of apps) catalog.view(app.namespace).apps.set(app.name, app)
    for (const runner of runners) catalog.view(runner.namespace).putRunner(runner)
    for (const workflow of workflows) catalog.view(workflow.namespace).putWorkflow(workflow)
    return catalog
  }

  view(namespace: string): NamespaceCatalog {
    let view = this.#namespaces.get(namespace)
    if (!view) {
      view = new NamespaceCatalog(namespace)
      this.#namespaces.set(namespace, view)
    }
    return view
  }

  /** Takes over what a committed unit registered. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.type === 'app.seen') this.view(change.app.namespace).seeApp(change.app)
      else if (change.type === 'runner.registered')
        this.view(change.runner.namespace).putRunner(change.runner)
      else if (change.type === 'workflow.registered')
        this.view(change.workflow.namespace).putWorkflow(change.workflow)
      else if (change.type === 'workflow.dropped')
        this.view(change.namespace).dropWorkflow(change.app, change.name)
    }
  }
}

/** Distinct event names whose matches are remembered per namespace; beyond it the memory starts anew. */
const MATCHES_MAX = 10_000

export class NamespaceCatalog implements CatalogView {
  readonly namespace: string
  readonly apps = new Map<string, App>()
  readonly #workflows = new Map<string, Map<string, Workflow>>()
  readonly #runners = new Map<string, Map<string, Runner>>()
  readonly #matches = new Map<string, readonly Workflow[]>()

  constructor(namespace: string) {
    this.namespace = namespace
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

  seeApp(app: App): void {
    if (!this.apps.has(app.name)) this.apps.set(app.name, app)
  }

  putRunner(runner: Runner): void {
    entry(this.#runners, runner.app).set(runner.runnerId, runner)
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
