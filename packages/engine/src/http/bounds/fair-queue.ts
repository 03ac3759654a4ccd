// A queue in which callers take turns: namespaces, and within a namespace its API keys. Used by request-permits.ts.

/** The sender of a request. Without `keyId`, all requests of the namespace are one caller's. */
export interface Caller {
  namespace: string
  keyId?: string
}

/** Items that wait, and their bytes. */
export interface Load {
  count: number
  bytes: number
}

interface Items<T> extends Load {
  items: T[]
}

interface Keys<T> extends Load {
  keys: Map<string, Items<T>>
}

const NOTHING: Load = { count: 0, bytes: 0 }

export class FairQueue<T extends { readonly bytes: number }> {
  /** Namespaces by their last turn, the oldest first; the keys of a namespace likewise. */
  readonly #namespaces = new Map<string, Keys<T>>()
  readonly #all: Load = { count: 0, bytes: 0 }

  /** All items. */
  get all(): Readonly<Load> {
    return this.#all
  }

  /** The waiting items of the caller's namespace and of its key. */
  loadOf({ namespace, keyId = '' }: Caller): { namespace: Readonly<Load>; key: Readonly<Load> } {
    const own = this.#namespaces.get(namespace)
    return { namespace: own ?? NOTHING, key: own?.keys.get(keyId) ?? NOTHING }
  }

  push({ namespace, keyId = '' }: Caller, item: T): void {
    const own = this.#namespaces.get(namespace) ?? { keys: new Map(), count: 0, bytes: 0 }
    const ofKey = own.keys.get(keyId) ?? { items: [], count: 0, bytes: 0 }
    ofKey.items.push(item)
    own.keys.set(keyId, ofKey)
    this.#namespaces.set(namespace, own)
    for (const load of [this.#all, own, ofKey]) add(load, 1, item.bytes)
  }

  /** Removes the next item: the oldest of the caller whose turn it is. */
  shift(): T | undefined {
    const [nextNamespace] = this.#namespaces
    if (!nextNamespace) return undefined
    const [namespace, own] = nextNamespace
    const [[keyId, ofKey]] = own.keys as unknown as [[string, Items<T>]]
    const item = ofKey.items.shift() as T
    own.keys.delete(keyId)
    this.#namespaces.delete(namespace)
    for (const load of [this.#all, own, ofKey]) add(load, -1, -item.bytes)
    // Behind the others.
    if (ofKey.count > 0) own.keys.set(keyId, ofKey)
    if (own.count > 0) this.#namespaces.set(namespace, own)
    return item
  }

  /** Removes an item that no longer waits, if it is in the queue. */
  remove({ namespace, keyId = '' }: Caller, item: T): void {
    const own = this.#namespaces.get(namespace)
    const ofKey = own?.keys.get(keyId)
    const at = ofKey?.items.indexOf(item) ?? -1
    if (!own || !ofKey || at < 0) return
    ofKey.items.splice(at, 1)
    for (const load of [this.#all, own, ofKey]) add(load, -1, -item.bytes)
    if (ofKey.count === 0) own.keys.delete(keyId)
    if (own.count === 0) this.#namespaces.delete(namespace)
  }
}

function add(load: Load, count: number, bytes: number): void {
  load.count += count
  load.bytes += bytes
}
