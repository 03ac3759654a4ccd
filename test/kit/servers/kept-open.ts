// One store for all tests of a contract, emptied before each: opening one takes longer than most of them.

import type { Store } from '../../../packages/engine/src/ports/store.ts'

/** Tables of a store that are never empty. */
export const FILLED_TABLES = ['migrations', 'probes', 'admin_revision', 'catalog_revision', 'cluster']

/** Empties the store and answers it, whenever one is to be opened; closing what it answers leaves it open. */
export function keptOpen(store: Store, empty: () => unknown): () => Promise<Store> {
  return async () => {
    await empty()
    return new Proxy(store, { get: (target, name) => (name === 'close' ? leaveOpen : bound(target, name)) })
  }
}

async function leaveOpen(): Promise<void> {}

/** Its private parts are its own alone. */
function bound(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target) as unknown
  return typeof value === 'function' ? value.bind(target) : value
}
