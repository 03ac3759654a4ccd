// The streams and tokens of a browser, shared by its tabs: one stream per topic however many tabs want it, flushed at 4 Hz,
// closed when nobody wants it or all tabs were hidden for a minute. Runs in the SharedWorker; without one, in the tab.

import { Coalescer } from './coalescer.ts'
import type { LiveState, Topic, ToTab, ToWorker } from './messages.ts'
import { follow } from './source.ts'

const FLUSH_MS = 250
const HIDDEN_MS_MAX = 60_000

/** A tab, as the hub knows it. */
export interface Tab {
  send(message: ToTab): void
}

interface Interest {
  namespace: string
  topics: ReadonlySet<Topic>
  hiddenSince: number | undefined
}

interface Stream {
  namespace: string
  topic: Topic
  stop: AbortController
  coalescer: Coalescer
  state: LiveState
  retryAt: number | undefined
}

export class Hub {
  readonly #url: string
  readonly #tabs = new Map<Tab, Interest | undefined>()
  readonly #tokens = new Map<string, string>()
  readonly #streams = new Map<string, Stream>()
  readonly #states = new Map<string, string>()

  constructor(url: string) {
    this.#url = url
    setInterval(() => this.#flush(), FLUSH_MS)
  }

  receive(tab: Tab, message: ToWorker): void {
    if (message.type === 'bye') this.#tabs.delete(tab)
    else if (message.type === 'ask') {
      const { namespace } = message
      tab.send({ type: 'token', namespace, token: this.#tokens.get(namespace) })
    } else if (message.type === 'token') this.#setToken(message.namespace, message.token)
    else {
      const { namespace, topics, isHidden } = message
      const before = this.#tabs.get(tab)?.hiddenSince
      this.#tabs.set(tab, {
        namespace,
        topics: new Set(topics),
        hiddenSince: isHidden ? (before ?? Date.now()) : undefined,
      })
      this.#states.delete(namespace)
    }
    this.#reconcile()
  }

  /** A new token replaces the streams of the one before. */
  #setToken(namespace: string, token: string | undefined): void {
    if (this.#tokens.get(namespace) === token) return
    if (token === undefined) this.#tokens.delete(namespace)
    else this.#tokens.set(namespace, token)
    for (const [key, stream] of this.#streams) if (stream.namespace === namespace) this.#close(key, stream)
  }

  /** Opens the streams that a tab wants, and closes the others. */
  #reconcile(): void {
    const wanted = new Map<string, { namespace: string; topic: Topic }>()
    const now = Date.now()
    for (const interest of this.#tabs.values()) {
      if (!interest || (interest.hiddenSince !== undefined && now - interest.hiddenSince > HIDDEN_MS_MAX)) continue
      for (const topic of interest.topics) {
        const { namespace } = interest
        wanted.set(`${namespace} ${topic}`, { namespace, topic })
      }
    }
    for (const [key, stream] of this.#streams) if (!wanted.has(key)) this.#close(key, stream)
    for (const [key, { namespace, topic }] of wanted) if (!this.#streams.has(key)) this.#open(key, namespace, topic)
  }

  #open(key: string, namespace: string, topic: Topic): void {
    const stream: Stream = {
      namespace,
      topic,
      stop: new AbortController(),
      coalescer: new Coalescer(),
      state: 'idle',
      retryAt: undefined,
    }
    this.#streams.set(key, stream)
    void follow({
      url: this.#url,
      token: this.#tokens.get(namespace),
      topic,
      signal: stream.stop.signal,
      onFrame: frame => stream.coalescer.add(frame),
      onOpen: isAgain => {
        stream.state = 'live'
        if (isAgain && !topic.startsWith('run:')) this.#send(namespace, { type: 'gap', namespace, topic })
      },
      onLost: retryAt => {
        stream.state = 'reconnecting'
        stream.retryAt = retryAt
      },
      onRefused: () => {
        stream.state = 'ended'
      },
    })
  }

  #close(key: string, { stop }: Stream): void {
    stop.abort()
    this.#streams.delete(key)
  }

  #flush(): void {
    this.#reconcile()
    for (const { namespace, topic, coalescer } of this.#streams.values()) {
      const batch = coalescer.take()
      if (!batch) continue
      if (batch.dropped > 0) this.#send(namespace, { type: 'gap', namespace, topic })
      for (const [tab, interest] of this.#tabs) {
        if (interest?.namespace === namespace && interest.topics.has(topic))
          tab.send({ type: 'batch', namespace, topic, batch })
      }
    }
    for (const namespace of new Set([...this.#tabs.values()].flatMap(interest => interest?.namespace ?? [])))
      this.#announceState(namespace)
  }

  /** Sends the state of a namespace when it has changed: the worst of its streams. */
  #announceState(namespace: string): void {
    const streams = [...this.#streams.values()].filter(stream => stream.namespace === namespace)
    const worst = (['ended', 'reconnecting', 'idle', 'live'] as const).find(state =>
      streams.some(stream => stream.state === state),
    )
    const state = worst ?? 'idle'
    const retryAt = streams.find(stream => stream.state === 'reconnecting')?.retryAt
    const text = `${state} ${retryAt}`
    if (this.#states.get(namespace) === text) return
    this.#states.set(namespace, text)
    this.#send(namespace, { type: 'state', namespace, state, ...(retryAt === undefined ? {} : { retryAt }) })
  }

  #send(namespace: string, message: ToTab): void {
    for (const [tab, interest] of this.#tabs) if (interest?.namespace === namespace) tab.send(message)
  }
}
