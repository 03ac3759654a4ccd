// Keeps an engine up to date with the API keys and namespaces of its store, which people change from outside.

import type { Logger } from 'pino'
import type { Admin } from '../../ports/admin.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Namespaces } from '../catalog/namespaces.ts'
import type { KeyRing } from './keys.ts'

/** From one look to the next: a change is noticed within 2 s. */
const LOOK_EVERY_MS = 1000

export interface AdminWatchDeps {
  admin: Admin
  keys: KeyRing
  namespaces: Namespaces
  clock: Clock
  log: Logger
}

/** Looks once a second at one number, one look at a time, until stopped. When a look fails, what was known stays. */
export class AdminWatch {
  readonly #deps: AdminWatchDeps
  #revision: number | undefined
  #failing = false
  #stopped = false
  #stopTimer: () => void = () => {}

  constructor(deps: AdminWatchDeps) {
    this.#deps = deps
  }

  /** Takes over what has changed since the last look. */
  async look(): Promise<void> {
    const { admin, keys, namespaces } = this.#deps
    // Read first: what changes behind it is seen at the next look.
    const revision = await admin.revision()
    if (revision === this.#revision) return
    const [stored, all] = await Promise.all([admin.keys(), admin.namespaces()])
    keys.replaceStored(stored)
    const suspended = all.filter(({ suspendedAt }) => suspendedAt !== undefined)
    namespaces.replaceSuspended(suspended.map(({ name }) => name))
    this.#revision = revision
  }

  start(): void {
    const { clock } = this.#deps
    if (this.#stopped) return
    this.#stopTimer = clock.at(clock.now() + LOOK_EVERY_MS, () => {
      void this.look()
        .then(
          () => this.#worked(),
          error => this.#failed(error),
        )
        .then(() => this.start())
    })
  }

  stop(): void {
    this.#stopped = true
    this.#stopTimer()
  }

  #worked(): void {
    this.#failing = false
  }

  /** One line for a series of failures. */
  #failed(error: unknown): void {
    if (this.#failing || this.#stopped) return
    this.#failing = true
    this.#deps.log.error(
      { err: error },
      'API keys and namespaces could not be read; the last known ones count',
    )
  }
}
