// Which namespaces are suspended (contract §5.4). The catalog carries the mark to every decision; this is where
// services ask, and where it is set.

import { EngineError } from '../../domain/model/errors.ts'
import type { Catalog } from './catalog.ts'

export class Namespaces {
  readonly #catalog: Catalog
  #suspended: readonly string[] = []

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  isSuspended(namespace: string): boolean {
    return this.#catalog.view(namespace).suspended
  }

  /** Throws `namespace_suspended` when new runs must not be started in the namespace. */
  assertActive(namespace: string): void {
    if (!this.isSuspended(namespace)) return
    throw new EngineError(
      'namespace_suspended',
      `namespace ${namespace} is suspended: no run is started in it`,
    )
  }

  /** These are suspended now, and no others. */
  replaceSuspended(names: readonly string[]): void {
    for (const name of this.#suspended) this.#catalog.view(name).suspended = false
    for (const name of names) this.#catalog.view(name).suspended = true
    this.#suspended = names
  }
}
