// The one stream of a namespace. When topics change, it opens the next connection before it closes the last one, so that no frame
// is lost; after an interruption timelines resume after their last frame, and lists have a gap. Driven by the hub.

import { cutText } from '@perdure/protocol/portable'
import { parse, sourceOf } from '../data/json/parse.ts'
import { type Batch, Coalescer, type LiveFrame, type Text } from './coalescer.ts'
import { bulkOf, type ListTopic, type LiveState } from './messages.ts'
import { type End, readStream } from './source.ts'

/** Maximum number of topics per request, as the engine limits them. */
export const TOPICS_MAX = 50
const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 10_000
/** Both connections are read for this long, which is longer than the engine holds back a frame. */
const OVERLAP_MS = 1000
/** A topic that nobody follows is dropped after this time: a page may be opened again. */
const LINGER_MS = 5000
/** The engine writes at least every 15 s. */
const SILENCE_MS_MAX = 40_000
/** Frames of timelines that wait for a flush; more are flushed at once. */
const TEXTS_MAX = 5000
/** If more frames arrive in a second, only their status is shown. */
const RATE_MAX = 5000

/** Maximum number of characters of a progress that are shown. */
const PROGRESS_CHARS_MAX = 1000

/**
 * The topics that tabs follow: lists and bulk jobs; and runs and their output streams, with the last frame that every tab has.
 */
export interface Wanted {
  lists: ReadonlySet<ListTopic>
  runs: ReadonlyMap<string, number>
}

/** Frames of a timeline in order, without a gap after the frame `from`. */
export interface Stretch {
  from: number
  texts: readonly Text[]
}

export interface Gap {
  topics: readonly ListTopic[]
  /** When the stream was interrupted; absent when it is opened for the first time. */
  lostAt?: number
}

export interface ChannelOptions {
  url: string
  token: string | undefined
  now(): number
  onGap(gap: Gap): void
  /** Called when data arrives: a hub whose timer is late can flush. */
  onData(isFull: boolean): void
}

interface Connection {
  lists: ReadonlySet<ListTopic>
  /** By run: the last flushed frame. */
  sent: Map<string, number>
  stop: AbortController
  isOpen: boolean
  heardAt: number
}

export class Channel {
  state: LiveState = 'idle'
  retryAt: number | undefined
  lostAt: number | undefined
  readonly #options: ChannelOptions
  #wanted: Wanted = { lists: new Set(), runs: new Map() }
  #current: Connection | undefined
  /** The previous connection, until the current one has been open for a moment. */
  #last: Connection | undefined
  #closeLastAt = Number.POSITIVE_INFINITY
  #retryMs = RETRY_MS_MIN
  /** Time at which the stream counts as stable: the next pause is then short again. */
  #steadyAt = 0
  /** Since when the connection has topics that nobody follows. */
  #surplusSince: number | undefined
  /** Ids of runs and bulk jobs that the engine does not know. */
  readonly #missing = new Set<string>()
  readonly #coalescers = new Map<ListTopic, Coalescer>()
  readonly #texts = new Map<string, Text[]>()
  #textCount = 0
  /** Frames of lists in the flushes of the last second. */
  #rates: { at: number; count: number }[] = []

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /** Called before each tick with the topics that tabs follow now. */
  want(wanted: Wanted): void {
    this.#wanted = wanted
    for (const id of this.#missing)
      if (!wanted.runs.has(id) && !wanted.lists.has(`bulk:${id}`)) this.#missing.delete(id)
  }

  /** Opens, replaces, retries and closes connections when it is time. */
  tick(): void {
    const now = this.#options.now()
    if (this.#last && now >= this.#closeLastAt) this.#leaveLast()
    if (this.#current?.isOpen && now - this.#current.heardAt > SILENCE_MS_MAX) {
      this.#current.stop.abort()
      this.#lose(this.#current)
    }
    if (this.state === 'live' && now >= this.#steadyAt) this.#retryMs = RETRY_MS_MIN
    if (this.state === 'ended') return
    const target = this.#target()
    if (this.#current === undefined) {
      if (isEmpty(target)) this.#rest()
      else if (this.retryAt === undefined || now >= this.retryAt) this.#open(target)
    } else if (this.#lacks(this.#current, target)) this.#open(target)
    else this.#narrow(this.#current, target, now)
  }

  /** Whether frames of the topic already arrive: its next connection then announces no gap. */
  streams(topic: ListTopic): boolean {
    const isOpen = this.#current?.isOpen && this.#current.lists.has(topic)
    return isOpen || this.#last?.lists.has(topic) === true
  }

  /** Tries again immediately. */
  wake(): void {
    if (this.retryAt !== undefined) this.retryAt = this.#options.now()
  }

  /** Closes the stream until topics are wanted again; frames missed in the meantime are a gap. */
  close(): void {
    if (this.#current?.isOpen) this.lostAt ??= this.#options.now()
    this.#current?.stop.abort()
    this.#current = undefined
    this.#leaveLast()
    if (this.state !== 'ended') this.state = 'idle'
  }

  /** Returns the frames since the last flush. */
  flush(): { lists: [ListTopic, Batch][]; timelines: ReadonlyMap<string, Stretch> } {
    const lists: [ListTopic, Batch][] = []
    const gaps: ListTopic[] = []
    let count = 0
    const now = this.#options.now()
    this.#rates = this.#rates.filter(({ at }) => now - at < 1000)
    const isSampled = this.#rates.reduce((sum, each) => sum + each.count, 0) > RATE_MAX
    for (const [topic, coalescer] of this.#coalescers) {
      const taken = coalescer.take(isSampled && bulkOf(topic) === undefined)
      if (!taken) {
        this.#coalescers.delete(topic)
        continue
      }
      count += taken.batch.count
      lists.push([topic, taken.batch])
      if (taken.dropped > 0) gaps.push(topic)
    }
    this.#rates.push({ at: now, count })
    if (gaps.length > 0) this.#announceGap(gaps, now)
    return { lists, timelines: this.#takeTimelines() }
  }

  #takeTimelines(): ReadonlyMap<string, Stretch> {
    const timelines = new Map<string, Stretch>()
    const sender = this.#current?.isOpen ? this.#current : this.#last
    for (const [runId, texts] of this.#texts) {
      const from = sender?.sent.get(runId)
      if (from === undefined) continue
      timelines.set(runId, { from, texts })
      sender?.sent.set(runId, Math.max(from, texts.at(-1)?.seq ?? 0))
    }
    this.#texts.clear()
    this.#textCount = 0
    return timelines
  }

  /** Returns the topics of the next connection, within the engine's limit. */
  #target(): Wanted {
    const lists = [...this.#wanted.lists].filter(topic => !this.#missing.has(bulkOf(topic) ?? '')).slice(0, TOPICS_MAX)
    const runs = [...this.#wanted.runs].filter(([runId]) => !this.#missing.has(runId))
    return { lists: new Set(lists), runs: new Map(runs.slice(0, TOPICS_MAX - lists.length)) }
  }

  #lacks({ lists, sent }: Connection, target: Wanted): boolean {
    const isBehind = ([runId, after]: [string, number]) => after < (sent.get(runId) ?? Number.POSITIVE_INFINITY)
    return [...target.lists].some(topic => !lists.has(topic)) || [...target.runs].some(isBehind)
  }

  /** Drops topics that nobody has followed for a while. */
  #narrow({ lists, sent }: Connection, target: Wanted, now: number): void {
    if (lists.size === target.lists.size && sent.size === target.runs.size) {
      this.#surplusSince = undefined
      return
    }
    this.#surplusSince ??= now
    if (now - this.#surplusSince < LINGER_MS) return
    if (isEmpty(target)) this.#rest()
    else this.#open(target)
  }

  /** Called when nobody follows anything. */
  #rest(): void {
    this.close()
    this.lostAt = undefined
    this.retryAt = undefined
    this.#surplusSince = undefined
  }

  #open({ lists, runs }: Wanted): void {
    const { url, token, now } = this.#options
    if (this.#current?.isOpen) {
      this.#leaveLast()
      this.#last = this.#current
    } else this.#current?.stop.abort()
    const connection: Connection = {
      lists: new Set(lists),
      sent: new Map(runs),
      stop: new AbortController(),
      isOpen: false,
      heardAt: now(),
    }
    this.#current = connection
    this.retryAt = undefined
    this.#surplusSince = undefined
    void readStream({
      url,
      token,
      topics: [...lists, ...[...runs].map(([runId, after]) => `run:${runId}${after > 0 ? `@${after}` : ''}`)],
      signal: connection.stop.signal,
      onOpen: () => this.#opened(connection),
      onHeard: () => {
        connection.heardAt = now()
      },
      onData: text => this.#take(connection, text),
      onSkipped: () => this.#announceGap([...connection.lists], now()),
    }).then(end => this.#ended(connection, end))
  }

  #opened(connection: Connection): void {
    if (connection !== this.#current) return
    connection.isOpen = true
    if (this.state !== 'live') this.#steadyAt = this.#options.now() + RETRY_MS_MAX
    this.state = 'live'
    // The new connection repeats the frames of timelines that were not flushed.
    this.#texts.clear()
    this.#textCount = 0
    this.#closeLastAt = this.#options.now() + OVERLAP_MS
    const before = this.#last?.lists
    this.#announceGap(
      [...connection.lists].filter(topic => !before?.has(topic)),
      this.lostAt,
    )
    this.lostAt = undefined
  }

  #announceGap(topics: readonly ListTopic[], lostAt: number | undefined): void {
    if (topics.length === 0) return
    this.#options.onGap({ topics, ...(lostAt === undefined ? {} : { lostAt }) })
  }

  #take(connection: Connection, text: string): void {
    const isCurrent = connection === this.#current
    if (!isCurrent && connection !== this.#last) return
    const frame = JSON.parse(text) as LiveFrame
    if (frame.kind === 'gap') {
      this.#announceGap([...connection.lists], this.#options.now())
      return
    }
    const topic = listOf(frame)
    if (topic) this.#coalescerOf(topic).add(slim(frame, text))
    // Until the next connection is open, the last one delivers the timelines.
    else if (isCurrent || !this.#current?.isOpen) this.#addText(timelineOf(frame), textOf(frame, text))
    this.#options.onData(this.#textCount >= TEXTS_MAX)
  }

  #coalescerOf(topic: ListTopic): Coalescer {
    const known = this.#coalescers.get(topic)
    if (known) return known
    const added = new Coalescer()
    this.#coalescers.set(topic, added)
    return added
  }

  #addText(runId: string, text: Text): void {
    const texts = this.#texts.get(runId)
    if (texts) texts.push(text)
    else this.#texts.set(runId, [text])
    this.#textCount++
  }

  #ended(connection: Connection, end: End): void {
    if (connection === this.#last) this.#leaveLast()
    if (connection !== this.#current || connection.stop.signal.aborted) return
    if (end.kind === 'refused' && (end.status === 401 || end.status === 403)) {
      this.close()
      this.state = 'ended'
    } else if (end.kind === 'lost' || !this.#leaveOut(connection, end)) this.#lose(connection)
  }

  #lose(connection: Connection): void {
    if (connection !== this.#current) return
    const now = this.#options.now()
    this.#current = undefined
    this.#leaveLast()
    this.lostAt ??= now
    this.state = 'reconnecting'
    this.retryAt = now + this.#retryMs
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2)
  }

  /**
   * Called when a run or a bulk job does not exist: continues with the others. Returns whether the engine answered this, and not
   * a proxy.
   */
  #leaveOut({ sent, lists }: Connection, { status, message }: End & { kind: 'refused' }): boolean {
    const ids = [...sent.keys(), ...[...lists].flatMap(topic => bulkOf(topic) ?? [])]
    const named = status === 404 ? ids.filter(id => message.includes(id.split(':', 1)[0] as string)) : []
    if (named.length === 0) return false
    for (const id of named) this.#missing.add(id)
    this.#current = this.#last
    this.#last = undefined
    return true
  }

  #leaveLast(): void {
    this.#last?.stop.abort()
    this.#last = undefined
    this.#closeLastAt = Number.POSITIVE_INFINITY
  }
}

const isEmpty = ({ lists, runs }: Wanted): boolean => lists.size + runs.size === 0

/** Returns the key of the timeline or the output stream of a frame. */
const timelineOf = ({ kind, runId, name }: LiveFrame): string =>
  kind === 'stream' ? `${runId}:${name}` : String(runId)

/** Returns the position after a frame: the offset of an output stream, otherwise the seq of the frame. */
const seqOf = ({ offset, seq = 0 }: LiveFrame): number => (offset === undefined ? seq : Number(offset))

/**
 * Returns a frame of a timeline as text. A frame that names the running step has the seq of the frame before it, and is never
 * sent again.
 */
const textOf = (frame: LiveFrame, text: string): Text =>
  frame.currentStepName === undefined ? { seq: seqOf(frame), text } : { seq: seqOf(frame), text, isNow: true }

/** Returns the topic of a frame; undefined for a frame of a timeline. */
function listOf({ kind, workflow, id }: LiveFrame): ListTopic | undefined {
  if (kind === 'event') return 'events'
  if (kind === 'delivery') return 'deliveries'
  if (kind === 'bulk') return `bulk:${id}`
  // Only the frames of lists name the workflow.
  return (kind === 'run_status' || kind === 'progress') && workflow !== undefined ? 'runs' : undefined
}

/** Returns the frame without the payload of an event, which is read when it is shown, and with the JSON text of a progress. */
function slim({ data: _, ...frame }: LiveFrame, text: string): LiveFrame {
  if (frame.kind !== 'progress') return frame as LiveFrame
  const { value } = parse(text) as { value: unknown }
  return { ...frame, value: cutText(sourceOf(value), PROGRESS_CHARS_MAX) } as LiveFrame
}
