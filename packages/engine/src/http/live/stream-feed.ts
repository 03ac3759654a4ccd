// The new messages of the output streams that readers follow. All readers of one stream share a feed: it takes published rows or
// reads the store once, and encodes once the messages for readers at the same position. Used by routes/run-streams and the topics
// of GET /stream.

import { isTerminal } from '../../domain/model/run.ts'
import type { StreamRow } from '../../domain/model/stream/stream.ts'
import { endMessage, messagesOf } from '../../domain/streams/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import { STREAM_PAGE_ROWS, type StreamName, type StreamPage } from '../../ports/stream-reads.ts'
import { type Live, streamKey } from '../../services/live/live.ts'
import type { HttpLimits } from '../request/limits.ts'

/** Published rows in memory, for readers that are slightly behind. */
const ROWS_MAX = 256
const ROWS_CHARS_MAX = 1024 * 1024

/** Messages of a stream from one position onward. */
export interface StreamPart {
  /** A JSON array. */
  text: string
  count: number
  /** The position after the messages. */
  next: number
  /** The part contains every existing message, or the message is before it. */
  isUpToDate: boolean
  /** The end of the run is the last message. */
  isClosed: boolean
}

export interface StreamFeedsDeps {
  live: Pick<Live, 'streams' | 'runs'>
  store: Pick<Store, 'streams'>
  clock: Pick<Clock, 'after'>
  limits: Pick<HttpLimits, 'rereadMs'>
}

export class StreamFeeds {
  readonly #deps: StreamFeedsDeps
  readonly #feeds = new Map<string, StreamFeed>()

  constructor(deps: StreamFeedsDeps) {
    this.#deps = deps
  }

  /** Returns the feed of the stream, which misses no commit from now on, until `leave` has been called for each call of this. */
  enter(stream: StreamName): StreamFeed {
    const key = `${stream.namespace}\n${streamKey(stream.runId, stream.name)}`
    let feed = this.#feeds.get(key)
    if (!feed) {
      feed = new StreamFeed(this.#deps, stream, () => this.#feeds.delete(key))
      this.#feeds.set(key, feed)
    }
    feed.enter()
    return feed
  }
}

export class StreamFeed {
  readonly #deps: StreamFeedsDeps
  readonly #stream: StreamName
  readonly #onEmpty: () => void
  readonly #stopListening: (() => void)[]
  /** Consecutive rows, the newest last. */
  #rows: StreamRow[] = []
  #rowsChars = 0
  /** Parts of those rows, by the position at which they begin. */
  readonly #parts = new Map<number, StreamPart>()
  /** Reads under way, by position. */
  readonly #reads = new Map<number, Promise<StreamPage | undefined>>()
  readonly #waiting = new Set<() => void>()
  #readers = 0
  #changes = 0

  constructor(deps: StreamFeedsDeps, stream: StreamName, onEmpty: () => void) {
    this.#deps = deps
    this.#stream = stream
    this.#onEmpty = onEmpty
    const { live } = deps
    const { runId, name } = stream
    const readers = () => this.#readers
    this.#stopListening = [
      live.streams.on(streamKey(runId, name), rows => this.#published(rows), readers),
      live.runs.on(
        runId,
        frames => {
          const mayHaveEnded = frames?.some(frame => frame.kind === 'run_status' && isTerminal(frame.status))
          if (mayHaveEnded !== false) this.#changed()
        },
        () => 0,
      ),
    ]
  }

  enter(): void {
    this.#readers++
  }

  leave(): void {
    if (--this.#readers > 0) return
    for (const stop of this.#stopListening) stop()
    this.#onEmpty()
  }

  /** How often something was committed. */
  get changes(): number {
    return this.#changes
  }

  /** The messages from `from` on, at most a page of them; undefined if the run is gone. */
  async part(from: number): Promise<StreamPart | undefined> {
    return this.#known(from) ?? this.#read(from)
  }

  /** Resolves once something was committed since `changes` had that value, or after some seconds: notifications may be lost. */
  changed(since: number, signal: AbortSignal): Promise<void> {
    if (this.#changes !== since || signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const settle = (): void => {
        cancel()
        this.#waiting.delete(settle)
        signal.removeEventListener('abort', settle)
        resolve()
      }
      const cancel = this.#deps.clock.after(this.#deps.limits.rereadMs, settle)
      this.#waiting.add(settle)
      signal.addEventListener('abort', settle)
    })
  }

  #published(rows: readonly StreamRow[] | undefined): void {
    const last = this.#rows.at(-1)
    const [first] = rows ?? []
    if (!rows || (last && last.n + last.count !== first?.n)) this.#forget()
    for (const row of rows ?? []) {
      this.#rows.push(row)
      this.#rowsChars += row.chunks?.length ?? 0
    }
    while (this.#rows.length > ROWS_MAX || this.#rowsChars > ROWS_CHARS_MAX)
      this.#rowsChars -= this.#rows.shift()?.chunks?.length ?? 0
    this.#changed()
  }

  #forget(): void {
    this.#rows = []
    this.#rowsChars = 0
  }

  #changed(): void {
    this.#changes++
    this.#parts.clear()
    // A read that began before the commit must not serve readers that come after it.
    this.#reads.clear()
    for (const settle of [...this.#waiting]) settle()
  }

  /** The published messages from the position onward. The end of the run is never among them: it is read from the store. */
  #known(from: number): StreamPart | undefined {
    const [first] = this.#rows
    const last = this.#rows.at(-1)
    if (!first || !last || from < first.n || from >= last.n + last.count) return undefined
    let part = this.#parts.get(from)
    if (!part) {
      const rows = this.#rows.filter(({ n, count }) => n + count > from)
      const messages = messagesOf(rows, from)
      const next = last.n + last.count
      part = { text: `[${messages.join(',')}]`, count: messages.length, next, isUpToDate: true, isClosed: false }
      this.#parts.set(from, part)
    }
    return part
  }

  async #read(from: number): Promise<StreamPart | undefined> {
    let reading = this.#reads.get(from)
    if (!reading) {
      const { streams } = this.#deps.store
      reading = streams.page(this.#stream, from).finally(() => {
        if (this.#reads.get(from) === reading) this.#reads.delete(from)
      })
      this.#reads.set(from, reading)
    }
    const page = await reading
    return page && partOf(page, from)
  }
}

/** The messages of a page, and the end of the run after its last row. */
export function partOf({ status, continuedAs, head, rows }: StreamPage, from: number): StreamPart {
  // Retention has dropped the messages: nothing follows.
  if (head?.dropped) return { text: '[]', count: 0, next: head.next, isUpToDate: true, isClosed: true }
  const messages = messagesOf(rows, from)
  const last = rows.at(-1)
  const next = last ? last.n + last.count : from
  const isUpToDate = rows.length < STREAM_PAGE_ROWS && next >= (head?.next ?? 0)
  const isClosed = isUpToDate && isTerminal(status)
  if (isClosed && next === (head?.next ?? 0))
    messages.push(endMessage(next, { status, ...(continuedAs && { continuedAs }) }))
  const end = isClosed ? Math.max(next, (head?.next ?? 0) + 1) : next
  return { text: `[${messages.join(',')}]`, count: messages.length, next: end, isUpToDate, isClosed }
}
