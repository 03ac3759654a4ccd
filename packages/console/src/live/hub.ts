// The tokens and streams of a browser, shared by its tabs: one stream per namespace with the topics of all tabs, flushed four
// times a second, closed when all tabs have been hidden for a minute. Runs in the SharedWorker, or in the leader of the tabs.

import { Channel, type Gap, type Wanted } from './channel.ts'
import type { Text } from './coalescer.ts'
import { CountReader } from './counts.ts'
import { type ListTopic, runOf, type ToHub, type Topic, type ToTab } from './messages.ts'

export const FLUSH_MS = 250
const HIDDEN_MS_MAX = 60_000
/** Interval at which tabs announce the topics that they follow. */
const HELLO_MS = 60_000
/** A tab that misses this many announcements is gone. They are counted, not timed: a machine may sleep for hours. */
const MISSED_MAX = 2

/** The hub's data about a tab. */
export interface Tab {
  send(message: ToTab): void
}

interface Following {
  namespace: string
  /** By topic: the last frame of a timeline that the tab has. */
  topics: Map<Topic, number>
  hiddenSince: number | undefined
  heardAt: number
  /** Number of hellos sent since the tab was last heard. */
  missed: number
  isSignedIn: boolean
}

export class Hub {
  readonly #url: string
  readonly #clock: () => number
  /** How far `#now` is ahead of the clock: as far as the clock was set back. */
  #aheadMs = 0
  #last = 0
  readonly #tabs = new Map<Tab, Following | undefined>()
  /** When silent tabs that were forgotten were last heard: a frozen tab comes back. */
  readonly #forgotten = new WeakMap<Tab, number>()
  readonly #tokens = new Map<string, string>()
  readonly #channels = new Map<string, Channel>()
  readonly #states = new Map<string, string>()
  readonly #counts = new Map<string, CountReader>()
  #tickedAt: number
  #helloAt: number

  constructor(url: string, now: () => number = Date.now) {
    this.#url = url
    this.#clock = now
    this.#tickedAt = this.#now()
    this.#helloAt = this.#tickedAt
  }

  /** Returns the time, which never goes back: work that is due in a second stays so even if the clock is set back by hours. */
  readonly #now = (): number => {
    const at = this.#clock()
    this.#aheadMs = Math.max(this.#aheadMs, this.#last - at)
    this.#last = at + this.#aheadMs
    return this.#last
  }

  receive(tab: Tab, message: ToHub): void {
    if (message.type === 'bye') this.#tabs.delete(tab)
    else if (message.type === 'ask') {
      const { namespace } = message
      tab.send({ type: 'token', namespace, token: this.#tokens.get(namespace) })
    } else if (message.type === 'token') this.#setToken(message)
    else if (message.type === 'recount') this.#counts.get(message.namespace)?.readErrors()
    else this.#setTopics(tab, message)
    this.#reconcile()
  }

  /** Called every `FLUSH_MS`: sends the tabs new frames, and does everything that is due. */
  tick(): void {
    this.#tickedAt = this.#now()
    this.#dropSilent()
    for (const [namespace, channel] of this.#channels) this.#flush(namespace, channel)
    this.#reconcile()
    for (const namespace of new Set([...this.#tabs.values()].flatMap(each => each?.namespace ?? []))) {
      this.#announceState(namespace)
      this.#readCounts(namespace)
    }
  }

  #setToken({ namespace, token, before }: ToHub & { type: 'token' }): void {
    const current = this.#tokens.get(namespace)
    if (token === current || (token === undefined && current !== before)) return
    if (token === undefined) this.#tokens.delete(namespace)
    else this.#tokens.set(namespace, token)
    this.#counts.delete(namespace)
    // A new token replaces the stream of the previous one.
    const channel = this.#channels.get(namespace)
    if (!channel) return
    const { lostAt } = channel
    channel.close()
    this.#channels.set(namespace, this.#newChannel(namespace, lostAt ?? channel.lostAt))
  }

  #setTopics(tab: Tab, { namespace, topics, isHidden, isSignedIn }: ToHub & { type: 'topics' }): void {
    const last = this.#tabs.get(tab)
    const before = last?.namespace === namespace ? last : undefined
    const positions = topics.map(({ topic, after, restarts }): [Topic, number] => [
      topic,
      restarts ? after : (before?.topics.get(topic) ?? after),
    ])
    this.#tabs.set(tab, {
      namespace,
      topics: new Map(positions),
      hiddenSince: isHidden ? (before?.hiddenSince ?? this.#now()) : undefined,
      heardAt: this.#now(),
      missed: 0,
      isSignedIn,
    })
    this.#catchUp(tab, before, { namespace, topics })
    const known = this.#counts.get(namespace)
    if (!before && known) tab.send({ type: 'counts', namespace, counts: known.counts })
    this.#states.delete(namespace)
    if (!isHidden) this.#channels.get(namespace)?.wake()
  }

  /**
   * Reports a gap to a tab that has missed frames of lists: from its read to its announcement if the stream already had them, and
   * if the hub forgot the tab since it was last heard. Missed frames of timelines follow after the tab's position.
   */
  #catchUp(
    tab: Tab,
    before: Following | undefined,
    { namespace, topics }: Pick<ToHub & { type: 'topics' }, 'namespace' | 'topics'>,
  ): void {
    const lostAt = this.#forgotten.get(tab)
    this.#forgotten.delete(tab)
    const channel = this.#channels.get(namespace)
    const lists = topics.flatMap(({ topic }) => (runOf(topic) === undefined ? [topic as ListTopic] : []))
    const missed =
      lostAt === undefined ? lists.filter(topic => !before?.topics.has(topic) && channel?.streams(topic)) : lists
    if (missed.length > 0) this.#sendGap(tab, namespace, { topics: missed, ...(lostAt !== undefined && { lostAt }) })
  }

  #sendGap(tab: Tab, namespace: string, { topics, lostAt }: Gap): void {
    const times = lostAt !== undefined && { lostAt: this.#onClock(lostAt) }
    tab.send({ type: 'gap', namespace, topics, ...times })
  }

  /** Converts a time of `#now` to the clock, which tabs read. */
  #onClock(at: number): number {
    return at - this.#aheadMs
  }

  /** Forgets tabs that crashed without a farewell. */
  #dropSilent(): void {
    const now = this.#now()
    if (now - this.#helloAt < HELLO_MS) return
    this.#helloAt = now
    for (const [tab, following] of this.#tabs) {
      if (following && ++following.missed > MISSED_MAX) {
        this.#tabs.delete(tab)
        this.#forgotten.set(tab, following.heardAt)
      } else tab.send({ type: 'hello' })
    }
  }

  #reconcile(): void {
    const namespaces = new Set([...this.#tabs.values()].flatMap(each => each?.namespace ?? []))
    for (const [namespace, channel] of this.#channels) {
      if (namespaces.has(namespace)) continue
      channel.close()
      this.#channels.delete(namespace)
    }
    for (const namespace of namespaces) {
      const channel = this.#channels.get(namespace) ?? this.#newChannel(namespace)
      this.#channels.set(namespace, channel)
      if (this.#isHidden(namespace)) channel.close()
      else {
        channel.want(this.#wantedOf(namespace))
        channel.tick()
      }
    }
  }

  #isHidden(namespace: string): boolean {
    const now = this.#now()
    return this.#following(namespace).every(
      ([, { hiddenSince }]) => hiddenSince !== undefined && now - hiddenSince > HIDDEN_MS_MAX,
    )
  }

  /** Puts visible tabs first, because the engine limits the topics of a stream. */
  #wantedOf(namespace: string): Wanted {
    const lists = new Set<ListTopic>()
    const runs = new Map<string, number>()
    const tabs = this.#following(namespace)
    tabs.sort(([, a], [, b]) => Number(a.hiddenSince !== undefined) - Number(b.hiddenSince !== undefined))
    for (const [, { topics }] of tabs) {
      for (const [topic, after] of topics) {
        const runId = runOf(topic)
        if (runId === undefined) lists.add(topic as ListTopic)
        else runs.set(runId, Math.min(after, runs.get(runId) ?? after))
      }
    }
    return { lists, runs }
  }

  #following(namespace: string): [Tab, Following][] {
    return [...this.#tabs].filter((each): each is [Tab, Following] => each[1]?.namespace === namespace)
  }

  #newChannel(namespace: string, lostAt?: number): Channel {
    const channel = new Channel({
      url: this.#url,
      token: this.#tokens.get(namespace),
      now: this.#now,
      onGap: gap => {
        for (const [tab, { topics }] of this.#following(namespace))
          if (gap.topics.some(topic => topics.has(topic))) this.#sendGap(tab, namespace, gap)
      },
      // Timers of hidden tabs run late; network events do not.
      onData: isFull => {
        if (isFull || this.#now() - this.#tickedAt >= FLUSH_MS) this.tick()
      },
    })
    channel.lostAt = lostAt
    return channel
  }

  #flush(namespace: string, channel: Channel): void {
    const { lists, timelines } = channel.flush()
    if (lists.length === 0 && timelines.size === 0) return
    for (const [tab, { topics }] of this.#following(namespace)) {
      for (const [topic, batch] of lists) if (topics.has(topic)) tab.send({ type: 'batch', namespace, topic, batch })
      for (const [runId, { from, texts }] of timelines) {
        const topic: Topic = `run:${runId}`
        const after = topics.get(topic)
        // A tab with an earlier position waits for the connection that begins there.
        const next = after === undefined || after < from ? [] : following(texts, after)
        if (next.length === 0) continue
        topics.set(topic, Math.max(after ?? 0, next.at(-1)?.seq ?? 0))
        tab.send({ type: 'timeline', namespace, topic, texts: next })
      }
    }
  }

  /** Reads the counts of the rail while a tab is visible. */
  #readCounts(namespace: string): void {
    const tabs = this.#following(namespace)
    if (!tabs.some(([, { hiddenSince, isSignedIn }]) => isSignedIn && hiddenSince === undefined)) return
    const reader =
      this.#counts.get(namespace) ??
      new CountReader({
        url: this.#url,
        token: this.#tokens.get(namespace),
        now: this.#now,
        onCounts: counts => {
          for (const [tab] of this.#following(namespace)) tab.send({ type: 'counts', namespace, counts })
        },
      })
    this.#counts.set(namespace, reader)
    reader.tick()
  }

  /** Sends the state of a namespace if it has changed. */
  #announceState(namespace: string): void {
    const { state = 'idle', retryAt, lostAt } = this.#channels.get(namespace) ?? {}
    const text = `${state} ${retryAt} ${lostAt}`
    if (this.#states.get(namespace) === text) return
    this.#states.set(namespace, text)
    const times = {
      ...(retryAt !== undefined && { retryAt: this.#onClock(retryAt) }),
      ...(lostAt !== undefined && { lostAt: this.#onClock(lostAt) }),
    }
    const refused = state === 'ended' ? { token: this.#tokens.get(namespace) } : {}
    for (const [tab] of this.#following(namespace)) tab.send({ type: 'state', namespace, state, ...times, ...refused })
  }
}

/** Returns the frames after a seq. Connections repeat some of them. */
function following(texts: readonly Text[], after: number): Text[] {
  let last = after
  return texts.filter(({ seq, isNow }) => {
    if (seq <= last) return isNow
    last = seq
    return true
  })
}
