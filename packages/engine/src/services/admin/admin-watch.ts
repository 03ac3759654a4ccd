// Keeps an engine up to date with the API keys and namespaces of its store, which other engines and the `perdure` command
// change.

import type { Admin } from '../../ports/admin.ts'
import type { Core } from '../commit/core.ts'
import { JoinedReads } from '../support/joined-reads.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import type { KeyRing } from './keys.ts'

/** Time from one read of the revision to the next: a change takes effect within 2 s. */
const ADMIN_REVISION_EVERY_MS = 1000

export interface AdminWatchDeps extends Pick<Core, 'namespaces' | 'clock' | 'log'> {
  admin: Admin
  keys: KeyRing
}

/** Time from one write of the times of use to the next. */
const USES_EVERY_MS = 60_000

/** Reads one number a second, and the rest when that number rose. While reads fail, the engine keeps the last known state. */
export class AdminWatch extends RepeatingTask {
  readonly #deps: AdminWatchDeps
  readonly #reads = new JoinedReads<void>()
  #revision: number | undefined
  #usesWrittenAt: number

  constructor(deps: AdminWatchDeps) {
    const { clock, log } = deps
    super({
      clock,
      everyMs: ADMIN_REVISION_EVERY_MS,
      run: () => this.#watch(),
      onFailure: err =>
        log.error({ err }, 'API keys and namespaces could not be read; the last known values stay in use'),
    })
    this.#deps = deps
    this.#usesWrittenAt = clock.elapsed()
    deps.keys.rereadWith(() => this.refresh())
  }

  /** Reads all changes that were made before the call. One read at a time: none puts an older state over a newer one. */
  refresh(): Promise<void> {
    return this.#reads.read('admin', () => this.#read())
  }

  /** Refreshes at once, in the background: another engine announced a change. */
  refreshSoon(): void {
    if (!this.stopped.aborted) this.refresh().catch(error => this.failed(error))
  }

  async #watch(): Promise<void> {
    const { clock, keys } = this.#deps
    keys.expire(clock.now())
    await this.refresh()
    if (clock.elapsed() - this.#usesWrittenAt >= USES_EVERY_MS) await this.#writeUses()
  }

  /** A crash loses the uses of the last minute: they are only informative. */
  async #writeUses(): Promise<void> {
    const { admin, clock, keys } = this.#deps
    this.#usesWrittenAt = clock.elapsed()
    const at = Math.floor(clock.now() / 60_000) * 60_000
    const used = keys.takeUsed().map(id => ({ id, at }))
    if (used.length > 0) await admin.keysUsed(used)
  }

  async #read(): Promise<void> {
    const { admin, keys, namespaces } = this.#deps
    // The revision is read first: the next call sees what changes after it.
    const revision = await admin.revision()
    if (revision === this.#revision) return
    const [stored, all] = await Promise.all([admin.keys(), admin.namespaces()])
    const suspended = all.filter(({ suspendedAt }) => suspendedAt !== undefined)
    namespaces.replaceSuspended(suspended.map(({ name }) => name))
    // This call is last: its listeners, such as the streams of run tokens, look at both.
    keys.replaceStored(stored, this.#deps.clock.now())
    this.#revision = revision
  }
}
