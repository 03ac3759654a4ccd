// Sends items to the streams that follow them, in rounds: one message with everything published since the last round, encoded
// once and written to every stream. The rate of rounds falls with the number of streams and bytes, so that streams take only a
// small part of the engine's time, however many there are. Used by fan-out.ts, topic-groups.ts and run-feed.ts.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'

/** A round writes to this many streams before it yields to other work. */
export const SLICE_STREAMS = 50
/** The pause after a round, for each stream and for each byte written to all streams together. */
const PAUSE_MS_PER_STREAM = 0.5
const BYTES_PER_PAUSE_MS = 16 * 1024
/** A shorter pause lasts until the event loop has done the work that is ready. */
const SHORTEST_PAUSE_MS = 2
/** Most bytes that wait for a round, for one stream and for very many; beyond this the oldest messages are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024
const WAITING_BYTES_MIN = 16 * 1024
/** With so many streams that fewer bytes may wait, a round costs about one second of pause. */
const WAITING_BYTES_OF_ALL = 1000 * BYTES_PER_PAUSE_MS

/** The part of a stream that takes messages. */
export interface Sink {
  offer(bytes: Buffer): void
}

/** One published item. */
export interface Message {
  /** A message with the same key replaces a waiting one; absent: nothing replaces it. */
  key?: string
  /** Its approximate size in bytes. */
  size: number
  /** The whole server-sent message. */
  bytes(): Buffer
}

/** Approximate bytes of a frame without payloads. */
export const FRAME_BYTES = 400

/** A message that is encoded when it is first sent: under load most are replaced or dropped before that. */
export function lazyMessage(
  encode: () => string,
  { key, size = FRAME_BYTES }: { key?: string; size?: number },
): Message {
  let encoded: Buffer | undefined
  const bytes = () => {
    encoded ??= Buffer.from(encode())
    return encoded
  }
  return key === undefined ? { size, bytes } : { key, size, bytes }
}

export interface BroadcastOptions {
  clock: Pick<Clock, 'after'>
  /** The shortest pause after a round. */
  everyMs?: number
}

/** The pause after a round that wrote `bytes` to each of the streams. */
export function pauseMs(streams: number, bytes: number): number {
  return Math.max(streams * PAUSE_MS_PER_STREAM, (streams * bytes) / BYTES_PER_PAUSE_MS)
}

/** Waits for `ms`, or for one turn of the event loop if that is less than a timer can measure. */
export async function pause(clock: Pick<Clock, 'after'>, ms: number, onCancel: (cancel: () => void) => void) {
  if (ms <= SHORTEST_PAUSE_MS) await nextTurn()
  else await wait(clock, ms, onCancel)
}

/** Waits for `ms`, or until the wait is cancelled. */
export function wait(clock: Pick<Clock, 'after'>, ms: number, onCancel: (cancel: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const stop = clock.after(ms, resolve)
    onCancel(() => {
      stop()
      resolve()
    })
  })
}

/** The streams of one selection of items, and the messages that wait for their next round. */
export class Broadcast {
  readonly #clock: Pick<Clock, 'after'>
  readonly #everyMs: number
  /** The streams, each with the number of the first message that it gets. */
  readonly #streams = new Map<Sink, number>()
  /** In order of publication. */
  readonly #waiting = new Map<string | number, { message: Message; number: number }>()
  #waitingBytes = 0
  #published = 0
  /** Messages left out since the last round, because too many bytes were waiting. */
  #skipped = 0
  /** A round, or the pause after it, is under way. */
  #isBusy = false
  #isClosed = false
  #cancelPause = (): void => {}

  constructor({ clock, everyMs = 0 }: BroadcastOptions) {
    this.#clock = clock
    this.#everyMs = everyMs
  }

  get size(): number {
    return this.#streams.size
  }

  add(stream: Sink): void {
    this.#streams.set(stream, this.#published)
  }

  remove(stream: Sink): void {
    this.#streams.delete(stream)
  }

  /** Sends the message at once when the last round and its pause are over, else with the next round. */
  send(message: Message): void {
    const key = message.key ?? this.#published
    this.#drop(key)
    this.#waiting.set(key, { message, number: this.#published++ })
    this.#waitingBytes += message.size
    this.#leaveOutOldest(key)
    if (!this.#isBusy) void this.#rounds()
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
    this.#cancelPause()
  }

  #drop(key: string | number): void {
    const replaced = this.#waiting.get(key)
    if (!replaced) return
    this.#waiting.delete(key)
    this.#waitingBytes -= replaced.message.size
  }

  #leaveOutOldest(newest: string | number): void {
    const perStream = WAITING_BYTES_OF_ALL / Math.max(1, this.#streams.size)
    const most = Math.min(WAITING_BYTES_MAX, Math.max(WAITING_BYTES_MIN, perStream))
    for (const key of this.#waiting.keys()) {
      if (this.#waitingBytes <= most || key === newest) return
      this.#drop(key)
      this.#skipped++
    }
  }

  async #rounds(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.size > 0) {
      const bytes = await this.#round()
      if (this.#isClosed) return
      const ms = Math.max(this.#everyMs, pauseMs(this.#streams.size, bytes))
      await pause(this.#clock, ms, cancel => {
        this.#cancelPause = cancel
      })
    }
    this.#isBusy = false
  }

  /** Writes the waiting messages to all streams; returns their number of bytes. */
  async #round(): Promise<number> {
    const messages = [...this.#waiting.values()]
    const first = messages[0]?.number as number
    const skipped = this.#skipped > 0 ? [Buffer.from(`: skipped ${this.#skipped}\n\n`)] : []
    this.#waiting.clear()
    this.#waitingBytes = 0
    this.#skipped = 0
    const bytes = Buffer.concat([...skipped, ...messages.map(({ message }) => message.bytes())])
    let written = 0
    for (const [stream, from] of [...this.#streams]) {
      if (written > 0 && written % SLICE_STREAMS === 0) await nextTurn()
      if (!this.#streams.has(stream)) continue
      written++
      if (from <= first) stream.offer(bytes)
      else {
        const published = messages.filter(({ number }) => number >= from)
        if (published.length > 0) stream.offer(Buffer.concat(published.map(({ message }) => message.bytes())))
      }
    }
    return bytes.length
  }
}
