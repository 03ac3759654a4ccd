// API keys, looked up by hash: neither a timing nor a dump of this process's tables gives a key away.

import { createHash } from 'node:crypto'

export interface KeyEntry<Kind extends string> {
  label: string
  namespace: string
  kind: Kind
}

export class KeyRing<Kind extends string> {
  readonly #byHash = new Map<string, KeyEntry<Kind>>()

  constructor(keys: readonly (KeyEntry<Kind> & { key: string })[]) {
    for (const { key, label, namespace, kind } of keys)
      this.#byHash.set(hash(key), { label, namespace, kind })
  }

  /** No key is configured at all. */
  get open(): boolean {
    return this.#byHash.size === 0
  }

  find(secret: string): KeyEntry<Kind> | undefined {
    return this.#byHash.get(hash(secret))
  }
}

function hash(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64')
}
