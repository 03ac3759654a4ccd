// Counts what callers hold open at this engine, streams or sockets, and bounds it per namespace and per API key
// (docs/operating.md#bounds), so that no tenant takes the places of the others.

import { EngineError } from '../../domain/model/errors.ts'
import type { Actor } from '../../services/commit/audit.ts'

export interface OpenLimits {
  /** The name of the counted things in messages. */
  name: 'streams' | 'sockets'
  /** Most of all namespaces together. */
  all: number
  perNamespace: number
  perKey: number
}

const SETTINGS = {
  streams: { perNamespace: 'ENGINE_STREAM_LIMIT', perKey: 'ENGINE_KEY_STREAM_LIMIT' },
  sockets: { perNamespace: 'ENGINE_SOCKET_LIMIT', perKey: 'ENGINE_KEY_SOCKET_LIMIT' },
} as const

export class OpenCounts {
  readonly #limits: OpenLimits
  /** By namespace, and by id of the API key. An absent entry is 0. */
  readonly #namespaces = new Map<string, number>()
  readonly #keys = new Map<string, number>()
  #size = 0

  constructor(limits: OpenLimits) {
    this.#limits = limits
  }

  /** How many are open. */
  get size(): number {
    return this.#size
  }

  /** Throws `rate_limited` or `overloaded`, naming the bound, when the caller may open no more now. */
  check({ namespace, keyId }: Actor): void {
    const { name, all, perNamespace, perKey } = this.#limits
    const settings = SETTINGS[name]
    if (keyId !== undefined && (this.#keys.get(keyId) ?? 0) >= perKey)
      throw tooMany(`the API key has ${perKey} ${name} open at this engine`, perKey, settings.perKey)
    if ((this.#namespaces.get(namespace) ?? 0) >= perNamespace)
      throw tooMany(
        `the namespace has ${perNamespace} ${name} open at this engine`,
        perNamespace,
        settings.perNamespace,
      )
    if (this.#size >= all) throw new EngineError('overloaded', `${all} ${name} are open, which is the most`)
  }

  /** Counts one more until the returned function is called; calling that again changes nothing. Throws as `check` does. */
  enter(actor: Actor): () => void {
    this.check(actor)
    this.#add(actor, 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#add(actor, -1)
      isOpen = false
    }
  }

  #add({ namespace, keyId }: Actor, by: 1 | -1): void {
    this.#size += by
    addTo(this.#namespaces, namespace, by)
    if (keyId !== undefined) addTo(this.#keys, keyId, by)
  }
}

function addTo(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

function tooMany(problem: string, limit: number, setting: string): EngineError {
  return new EngineError('rate_limited', `${problem}, which is the most (${setting})`, { details: { limit, setting } })
}
