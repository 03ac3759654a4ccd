// Which namespaces are suspended (docs/security.md#suspended-namespaces). Services check it here; decisions read it from
// the catalog.

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
    throw new EngineError('namespace_suspended', `namespace ${namespace} is suspended: it starts no runs`)
  }

  /** Marks exactly these namespaces as suspended. */
  replaceSuspended(names: readonly string[]): void {
    for (const name of this.#suspended) this.#catalog.view(name).suspended = false
    for (const name of names) this.#catalog.view(name).suspended = true
    this.#suspended = names
  }
}
