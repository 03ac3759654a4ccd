// Which Connect runners have a socket on which other engine, as those engines say it: with every change, and in short
// every other second. An engine that falls silent is taken for dead, and its runners with it.

import type { Bus } from '../../../ports/bus.ts'

const SAY_EVERY_MS = 2000
const SILENCE_MS_MAX = 8000

export interface EnginePresenceOptions {
  bus: Bus
  /** Runners with a socket on this engine. */
  own(): string[]
  /** A runner came within reach. */
  onArrived(url: string): void
  /** An engine fell silent, or said goodbye. */
  onGone(engine: string): void
}

interface Known {
  urls: Set<string>
  /** Of the list that `urls` is; undefined until one was heard. */
  version: number | undefined
  heardAt: number
}

export class EnginePresence {
  readonly #options: EnginePresenceOptions
  readonly #engines = new Map<string, Known>()
  readonly #timer: NodeJS.Timeout
  #version = 0
  #hasLeft = false

  constructor(options: EnginePresenceOptions) {
    this.#options = options
    const { bus } = options
    bus.on('here', (text, from) => this.#heardHere(from, Number(text)))
    bus.on('moved', (text, from) => this.#heardMove(from, text))
    bus.on('who', (_, from) => this.#list(from))
    bus.on('list', (text, from) => this.#heardList(from, text))
    bus.on('bye', (_, from) => this.#drop(from))
    bus.onBack(() => this.#say())
    this.#timer = setInterval(() => this.#turn(), SAY_EVERY_MS).unref()
    this.#say()
  }

  /** An engine that has a socket of the runner; undefined when none is known. */
  engineOf(url: string): string | undefined {
    for (const [engine, { urls }] of this.#engines) if (urls.has(url)) return engine
    return undefined
  }

  /** How long ago an engine that has the runner was heard. */
  silenceOf(url: string): number | undefined {
    const known = this.#engines.get(this.engineOf(url) ?? '')
    return known && performance.now() - known.heardAt
  }

  /** A runner has its first socket on this engine, or none any more. */
  moved(url: string, isHere: boolean): void {
    if (this.#hasLeft) return
    this.#version++
    this.#options.bus.tell('moved', `${this.#version} ${isHere ? '+' : '-'}${url}`)
  }

  /** Nobody shall send further invokes here; those under way go on. */
  leave(): void {
    this.#version++
    this.#hasLeft = true
    this.#say()
  }

  /** This engine is not there any more. */
  close(): void {
    clearInterval(this.#timer)
    this.#options.bus.tell('bye', '')
  }

  #turn(): void {
    this.#say()
    const heardSince = performance.now() - SILENCE_MS_MAX
    for (const [engine, { heardAt }] of this.#engines) if (heardAt < heardSince) this.#drop(engine)
  }

  #say(): void {
    this.#options.bus.tell('here', String(this.#version))
  }

  #list(to: string): void {
    const { bus, own } = this.#options
    bus.tell('list', [this.#version, ...(this.#hasLeft ? [] : own())].join('\n'), to)
  }

  #heardHere(engine: string, version: number): void {
    const known = this.#heard(engine)
    if (known.version !== version) this.#options.bus.tell('who', '', engine)
  }

  #heardMove(engine: string, text: string): void {
    const known = this.#heard(engine)
    const [version, change] = split(text, ' ')
    if (known.version !== Number(version) - 1) {
      this.#options.bus.tell('who', '', engine)
      return
    }
    known.version++
    const url = change.slice(1)
    if (change.startsWith('-')) known.urls.delete(url)
    else if (!known.urls.has(url)) {
      known.urls.add(url)
      this.#options.onArrived(url)
    }
  }

  #heardList(engine: string, text: string): void {
    const known = this.#heard(engine)
    const [version, ...urls] = text.split('\n')
    const before = known.urls
    known.version = Number(version)
    known.urls = new Set(urls)
    for (const url of urls) if (!before.has(url)) this.#options.onArrived(url)
  }

  #heard(engine: string): Known {
    let known = this.#engines.get(engine)
    if (!known) {
      known = { urls: new Set(), version: undefined, heardAt: 0 }
      this.#engines.set(engine, known)
    }
    known.heardAt = performance.now()
    return known
  }

  #drop(engine: string): void {
    if (this.#engines.delete(engine)) this.#options.onGone(engine)
  }
}

/** The text before the first separator, and all behind it. */
export function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
