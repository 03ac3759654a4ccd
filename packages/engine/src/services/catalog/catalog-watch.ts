// Keeps the catalog of an engine up to date with what others on the same store register. Opened by compose where the
// store is shared; an engine that is alone knows everything from its own commits.

import type { Logger } from 'pino'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Catalog } from './catalog.ts'

/** From one look at the revision to the next. */
const LOOK_EVERY_MS = 1000
/** Heartbeats raise no revision: when runners were last seen is read again this often, so that `live` is right. */
const READ_EVERY_MS = 15_000
/** Reads that our own changes outdated on the way, before it is left to the next look. */
const READS_MAX = 5

export interface CatalogWatchDeps {
  store: Pick<Store, 'catalog' | 'catalogRevision'>
  catalog: Catalog
  clock: Clock
  log: Logger
  /** A runner of the app is new here, or changed: runs may be held for want of it. */
  onArrived(namespace: string, app: string): void
  /** Called after the slow reads. */
  onRead(): Promise<void>
}

export class CatalogWatch {
  readonly #deps: CatalogWatchDeps
  /** The next look reads the catalog whatever its revision. */
  #mustRead = false
  #readAt = Number.NEGATIVE_INFINITY
  #looking: Promise<boolean> | undefined
  /** A look that began later than the one under way, for whoever asked meanwhile. */
  #next: Promise<boolean> | undefined
  #failing = false
  #stopped = false
  #stopTimer: () => void = () => {}

  constructor(deps: CatalogWatchDeps) {
    this.#deps = deps
  }

  /**
   * Takes over all that was committed before the call; false when our own changes kept coming in between. One look at a
   * time, shared by all who ask meanwhile.
   */
  look(): Promise<boolean> {
    if (!this.#looking) {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined
      })
      return this.#looking
    }
    this.#next ??= this.#looking
      .catch(() => false)
      .then(() => {
        this.#next = undefined
        return this.look()
      })
    return this.#next
  }

  /** Another engine said that there is news. */
  lookSoon(): void {
    if (!this.#stopped) this.look().catch(error => this.#failed(error))
  }

  start(): void {
    const { clock } = this.#deps
    if (this.#stopped) return
    this.#stopTimer = clock.at(clock.now() + LOOK_EVERY_MS, () => {
      void this.#turn()
        .then(
          () => {
            this.#failing = false
          },
          error => this.#failed(error),
        )
        .then(() => this.start())
    })
  }

  stop(): void {
    this.#stopped = true
    this.#stopTimer()
  }

  async #turn(): Promise<void> {
    const isDue = this.#deps.clock.now() - this.#readAt >= READ_EVERY_MS
    if (isDue) this.#mustRead = true
    await this.look()
    if (isDue) await this.#deps.onRead()
  }

  async #look(): Promise<boolean> {
    const { store, catalog, clock } = this.#deps
    for (let reads = 0; reads < READS_MAX; reads++) {
      const { applied } = catalog
      // Read first: what changes behind it is seen at the next look.
      const revision = await store.catalogRevision()
      if (revision === catalog.revision && !this.#mustRead) return true
      const configured = await store.catalog()
      // Our own changes may be missing in what was read.
      if (catalog.applied !== applied) continue
      const known = new Map(catalog.allRunners().map(runner => [keyOf(runner), toldBy(runner)]))
      catalog.replace(configured, revision)
      this.#mustRead = false
      this.#readAt = clock.now()
      this.#tellArrived(configured.runners.filter(runner => known.get(keyOf(runner)) !== toldBy(runner)))
      return true
    }
    return false
  }

  #tellArrived(runners: readonly Runner[]): void {
    const apps = new Map(runners.map(runner => [`${runner.namespace}\n${runner.app}`, runner]))
    for (const { namespace, app } of apps.values()) this.#deps.onArrived(namespace, app)
  }

  /** One line for a series of failures. */
  #failed(error: unknown): void {
    if (this.#failing || this.#stopped) return
    this.#failing = true
    this.#deps.log.error(
      { err: error },
      'registrations of other engines could not be read; the last known count',
    )
  }
}

function keyOf({ namespace, app, runnerId }: Runner): string {
  return `${namespace}\n${app}\n${runnerId}`
}

function toldBy({ url, workflows, lastSeenAt: _ }: Runner): string {
  return `${url} ${workflows.join('\n')}`
}
