// Counts what callers hold open at this engine, streams or sockets, and bounds it per namespace and per API key
// (docs/limits.md#bounds), so that no tenant takes the permits of the others.

import { EngineError } from '../../domain/model/errors.ts'
import type { Actor } from '../../services/commit/audit.ts'
import { KeyPermits, Permits } from '../../services/support/permits.ts'

export interface OpenLimits {
  /** The name of the counted things in messages. */
  name: 'streams' | 'sockets'
  /** Most in all namespaces together. */
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
  readonly #all: Permits
  readonly #namespaces = new KeyPermits()
  /** By id of the API key. */
  readonly #keys = new KeyPermits()

  constructor(limits: OpenLimits) {
    this.#limits = limits
    this.#all = new Permits(limits.all)
  }

  /** How many are open. */
  get size(): number {
    return this.#all.inUse
  }

  /** Throws `rate_limited` or `overloaded`, naming the bound, if the caller may not open another one now. */
  check({ namespace, keyId }: Actor): void {
    const { name, all, perNamespace, perKey } = this.#limits
    const settings = SETTINGS[name]
    if (keyId !== undefined && this.#keys.inUseBy(keyId) >= perKey)
      throw tooMany(`the API key has ${perKey} ${name} open at this engine`, perKey, settings.perKey)
    if (this.#namespaces.inUseBy(namespace) >= perNamespace)
      throw tooMany(
        `the namespace has ${perNamespace} ${name} open at this engine`,
        perNamespace,
        settings.perNamespace,
      )
    if (this.#all.room <= 0) throw new EngineError('overloaded', `${all} ${name} are open, the maximum`)
  }

  /** Counts another one until the returned function is called; calling that again changes nothing. Throws as `check` does. */
  enter(actor: Actor): () => void {
    this.check(actor)
    this.#take(actor)
    let isOpen = true
    return () => {
      if (isOpen) this.#giveBack(actor)
      isOpen = false
    }
  }

  #take({ namespace, keyId }: Actor): void {
    this.#all.take()
    this.#namespaces.take(namespace)
    if (keyId !== undefined) this.#keys.take(keyId)
  }

  #giveBack({ namespace, keyId }: Actor): void {
    this.#all.giveBack()
    this.#namespaces.giveBack(namespace)
    if (keyId !== undefined) this.#keys.giveBack(keyId)
  }
}

function tooMany(problem: string, limit: number, setting: string): EngineError {
  return new EngineError('rate_limited', `${problem}, the maximum (${setting})`, { details: { limit, setting } })
}
