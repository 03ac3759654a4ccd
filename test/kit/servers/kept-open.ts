// One store for all tests of a contract, emptied before each test: opening a store takes longer than most tests.

import type { Store } from '../../../packages/engine/src/ports/store.ts'

/** Tables of a store that are never empty. */
export const FILLED_TABLES = ['migrations', 'probes', 'admin_revision', 'catalog_revision', 'cluster', 'engine_claim']

/** Empties the store each time a test opens it, and returns it with a `close` that leaves it open. */
export function keptOpen(store: Store, empty: () => unknown): () => Promise<Store> {
  return async () => {
    await empty()
    return new Proxy(store, { get: (target, name) => (name === 'close' ? leaveOpen : bound(target, name)) })
  }
}

async function leaveOpen(): Promise<void> {}

/** Binds a method to the store, because only the store itself can use its private members. */
function bound(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target) as unknown
  return typeof value === 'function' ? value.bind(target) : value
}
