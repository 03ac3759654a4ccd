// Keeps the catalog of an engine up to date with the registrations at other engines on the store. Compose opens it where the
// store is shared; a single engine knows everything from its own commits.

import type { Logger } from 'pino'
import { type Runner, runnerKey, type Workflow } from '../../domain/model/workflow.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { JoinedReads } from '../support/joined-reads.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import type { Catalog } from './catalog.ts'

/** Time from one read of the revision to the next. */
const CATALOG_REVISION_EVERY_MS = 1000
/** Heartbeats raise no revision, so the whole catalog is also read this often: `live` depends on when runners were last seen. */
export const CATALOG_READ_EVERY_MS = 15_000
/** Maximum reads in one refresh: a change of this engine during a read makes the read obsolete. */
const CATALOG_READS_MAX = 5

export interface CatalogWatchDeps {
  store: Pick<Store, 'catalog' | 'catalogRevision'>
  catalog: Catalog
  clock: Clock
  log: Logger
  /** A runner of the app is new to this engine, or changed: held runs may be waiting for it. */
  onAppReachable(namespace: string, app: string): void
  /** Another engine changed the limits of the workflow: runs may be held here by the earlier limits. */
  onLimited(workflow: Pick<Workflow, 'namespace' | 'app' | 'name'>): void
  /** Called after each of the regular reads of the whole catalog. */
  onRead(): Promise<void>
}

export class CatalogWatch extends RepeatingTask {
  readonly #deps: CatalogWatchDeps
  readonly #reads = new JoinedReads<boolean>()
  /** The next refresh reads the catalog whatever its revision. */
  #mustRead = false
  #readAt = Number.NEGATIVE_INFINITY

  constructor(deps: CatalogWatchDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: CATALOG_REVISION_EVERY_MS,
      run: () => this.#refreshRegularly(),
      onFailure: err =>
        log.error({ err }, 'registrations of other engines could not be read; the last known ones stay in use'),
    })
    this.#deps = deps
  }

  /** Reads all that was committed before the call; false when changes of this engine kept making the reads obsolete. */
  refresh(): Promise<boolean> {
    return this.#reads.read('catalog', () => this.#read())
  }

  /** Refreshes at once, in the background: another engine announced a change. */
  refreshSoon(): void {
    if (!this.stopped.aborted) this.refresh().catch(error => this.failed(error))
  }

  async #refreshRegularly(): Promise<void> {
    const isReadDue = this.#deps.clock.elapsed() - this.#readAt >= CATALOG_READ_EVERY_MS
    if (isReadDue) this.#mustRead = true
    await this.refresh()
    if (isReadDue) await this.#deps.onRead()
  }

  async #read(): Promise<boolean> {
    const { store, catalog, clock } = this.#deps
    for (let reads = 0; reads < CATALOG_READS_MAX; reads++) {
      const { applied } = catalog
      // The revision is read first: the next refresh sees what changes after it.
      const revision = await store.catalogRevision()
      if (revision === catalog.revision && !this.#mustRead) return true
      const configured = await store.catalog()
      // The read may lack changes of this engine.
      if (catalog.applied !== applied) continue
      const known = new Map(catalog.allRunners().map(runner => [runnerKey(runner), registrationOf(runner)]))
      const isMoved = (workflow: Workflow) => limitsOf(catalog, workflow) !== JSON.stringify(workflow.limits)
      const moved = configured.workflows.filter(isMoved)
      catalog.replace(configured, revision)
      this.#mustRead = false
      this.#readAt = clock.elapsed()
      const isNew = (runner: Runner) => known.get(runnerKey(runner)) !== registrationOf(runner)
      this.#notifyApps(configured.runners.filter(isNew))
      for (const workflow of moved) this.#deps.onLimited(workflow)
      return true
    }
    return false
  }

  #notifyApps(runners: readonly Runner[]): void {
    const apps = new Map(runners.map(runner => [`${runner.namespace}\n${runner.app}`, runner]))
    for (const { namespace, app } of apps.values()) this.#deps.onAppReachable(namespace, app)
  }
}

/** The operator's limits of the workflow in the catalog. */
function limitsOf(catalog: Catalog, { namespace, app, name }: Workflow): string | undefined {
  return JSON.stringify(catalog.view(namespace).workflow(app, name)?.limits)
}

/** A text that changes when the runner registers something new. */
function registrationOf({ url, workflows }: Runner): string {
  return `${url} ${workflows.join('\n')}`
}
