// One output stream of one attempt of a step: the buffer of its chunks, and the appends that are under way. Created by the streams
// of the attempt.

import { NonRetriableError } from '@perdure/client'
import {
  STREAM_APPEND_CHUNKS_MAX,
  STREAM_BYTES_MAX,
  STREAM_CHUNK_BYTES_MAX,
  STREAM_CHUNKS_MAX,
  STREAM_UNACKNOWLEDGED_BYTES_MAX,
} from '@perdure/protocol'
import type { OutputStream, StreamSource } from '../run/output-stream.ts'
import { jsonText } from '../wire/json.ts'
import { StreamLimitError, StreamUnavailableError } from '../wire/stream-errors.ts'
import { byteLength } from '../wire/text-size.ts'
import type { AppendRefusedError, StreamOutlet } from './outlet.ts'
import { readerOf } from './source.ts'

/** Maximum of waiting bytes and bytes under way. Above it `write` waits. */
const BUFFER_BYTES_MAX = 1024 * 1024
/**
 * Chunks written within this time are sent together, unless they have more bytes. All streams of the process send at the same
 * moments: their appends leave in one write to the socket, and the engine stores them with one commit.
 */
const GATHER_MS = 5
const GATHER_BYTES = 16 * 1024
/** How long the engine may take to acknowledge any of the appends under way. */
const ACKNOWLEDGE_MS_MAX = 30_000

export interface StepStreamOptions {
  name: string
  /** The hashed id of the step, and its name with its position. */
  stepId: string
  step: string
  /** Without it the chunks are dropped. */
  outlet: StreamOutlet | undefined
  /** The engine has stored an append. */
  onAppended(): void
  /** The engine has refused an append, because the pass is over. */
  onGone(): void
}

interface Chunk {
  readonly text: string
  readonly bytes: number
}

interface UnderWay {
  readonly count: number
  readonly bytes: number
  isDurable: boolean
}

interface FlushWaiter {
  /** Number of the last chunk that must be durable. */
  readonly upTo: number
  resolve(): void
  reject(error: unknown): void
}

const DONE = Promise.resolve()

export class StepStream implements OutputStream {
  readonly name: string
  readonly #options: StepStreamOptions
  readonly #texts: string[] = []
  #waiting: Chunk[] = []
  #waitingBytes = 0
  /** In the order in which they were sent. */
  readonly #underWay: UnderWay[] = []
  #unacknowledgedBytes = 0
  #seq = 0
  /** Chunks that were written, their bytes, and how many of them are durable. */
  #written = 0
  #writtenBytes = 0
  #durable = 0
  #flushes: FlushWaiter[] = []
  /** Writes that wait for space, and reads of sources. */
  readonly #blocked = new Set<{ resolve(): void; reject(error: unknown): void }>()
  readonly #reads = new Set<(error: unknown) => void>()
  #gathering: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined
  /** Chunks are waiting for an acknowledgement of earlier ones. */
  #isWaiting = false
  #failure: { error: unknown } | undefined

  constructor(options: StepStreamOptions) {
    this.#options = options
    this.name = options.name
  }

  write(chunk: unknown): Promise<void> {
    if (this.#failure) return silenced(Promise.reject(this.#failure.error))
    try {
      this.#take(chunk)
    } catch (error) {
      return Promise.reject(error)
    }
    if (this.#waitingBytes + this.#unacknowledgedBytes <= BUFFER_BYTES_MAX) return DONE
    return silenced(new Promise((resolve, reject) => this.#blocked.add({ resolve, reject })))
  }

  flush(): Promise<void> {
    if (this.#failure) return silenced(Promise.reject(this.#failure.error))
    if (this.#durable === this.#written) return DONE
    const flushed = new Promise<void>((resolve, reject) => {
      this.#flushes.push({ upTo: this.#written, resolve, reject })
    })
    this.#send()
    return silenced(flushed)
  }

  async pipe<Read>(source: StreamSource<Read>): Promise<Read[]> {
    const reader = readerOf(source)
    if (!reader) throw this.#refusal('pipe takes an async iterable or a ReadableStream')
    const all: Read[] = []
    try {
      for (;;) {
        const { done, value } = await this.#unlessEnded(reader.next())
        if (done) return all
        await this.write(value)
        all.push(value)
      }
    } catch (error) {
      reader.cancel(error)
      throw error
    }
  }

  text(): string {
    return this.#texts.join('')
  }

  /** Ends the stream: nothing more is sent, and everything that waits for it rejects. Further calls do nothing. */
  end(error: unknown): void {
    if (this.#failure) return
    this.#failure = { error }
    clearTimeout(this.#gathering)
    clearTimeout(this.#deadline)
    this.#waiting = []
    for (const { reject } of [...this.#blocked, ...this.#flushes]) reject(error)
    for (const reject of this.#reads) reject(error)
    this.#blocked.clear()
    this.#reads.clear()
    this.#flushes = []
  }

  #take(value: unknown): void {
    const what = `Step "${this.#options.step}": a chunk of stream "${this.name}"`
    const text = jsonText(value, what)
    if (text === undefined) throw new NonRetriableError(`${what} cannot be stored as JSON: it is undefined`)
    const bytes = byteLength(text)
    if (bytes > STREAM_CHUNK_BYTES_MAX)
      throw new StreamLimitError(`${what} has ${bytes} bytes of JSON; the maximum is ${STREAM_CHUNK_BYTES_MAX}`)
    if (this.#written === STREAM_CHUNKS_MAX) throw this.#limit(`a stream has at most ${STREAM_CHUNKS_MAX} chunks`)
    if (this.#writtenBytes + bytes > STREAM_BYTES_MAX)
      throw this.#limit(`a stream has at most ${STREAM_BYTES_MAX} bytes of JSON`)
    if (typeof value === 'string') this.#texts.push(value)
    this.#written++
    this.#writtenBytes += bytes
    if (!this.#options.outlet) {
      this.#durable++
      return
    }
    this.#waiting.push({ text, bytes })
    this.#waitingBytes += bytes
    if (this.#isWaiting) return
    if (this.#waitingBytes >= GATHER_BYTES) this.#send()
    else this.#gathering ??= setTimeout(() => this.#send(), untilNextMoment())
  }

  /** Sends the waiting chunks, if the engine has acknowledged enough. */
  #send(): void {
    const { outlet } = this.#options
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    this.#isWaiting = false
    while (outlet && this.#waiting.length > 0) {
      const chunks = this.#underWay.length < outlet.appendsMax ? this.#takeWaiting() : []
      if (chunks.length === 0) {
        this.#isWaiting = true
        return
      }
      this.#append(outlet, chunks)
    }
  }

  /** Removes and returns the first chunks that may join those under way. */
  #takeWaiting(): Chunk[] {
    let room = STREAM_UNACKNOWLEDGED_BYTES_MAX - this.#unacknowledgedBytes
    let count = 0
    for (const { bytes } of this.#waiting) {
      if (bytes > room || count === STREAM_APPEND_CHUNKS_MAX) break
      room -= bytes
      count++
    }
    return this.#waiting.splice(0, count)
  }

  #append(outlet: StreamOutlet, chunks: readonly Chunk[]): void {
    const { stepId, step } = this.#options
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
    const underWay = { count: chunks.length, bytes, isDurable: false }
    this.#underWay.push(underWay)
    this.#waitingBytes -= bytes
    this.#unacknowledgedBytes += bytes
    this.#deadline ??= this.#startDeadline()
    const texts = chunks.map(({ text }) => text)
    const append = { stepId, step, name: this.name, seq: ++this.#seq, chunks: texts }
    outlet
      .append(append, () => this.#failure !== undefined)
      .then(
        () => this.#appended(underWay),
        error => this.#refused(error),
      )
  }

  #appended(append: UnderWay): void {
    if (this.#failure) return
    append.isDurable = true
    this.#unacknowledgedBytes -= append.bytes
    while (this.#underWay[0]?.isDurable) this.#durable += (this.#underWay.shift() as UnderWay).count
    clearTimeout(this.#deadline)
    this.#deadline = this.#underWay.length > 0 ? this.#startDeadline() : undefined
    this.#options.onAppended()
    this.#flushes = this.#flushes.filter(({ upTo, resolve }) => {
      if (upTo <= this.#durable) resolve()
      return upTo > this.#durable
    })
    if (this.#isWaiting || this.#flushes.length > 0) this.#send()
    if (this.#waitingBytes + this.#unacknowledgedBytes > BUFFER_BYTES_MAX) return
    for (const { resolve } of this.#blocked) resolve()
    this.#blocked.clear()
  }

  #refused(refusal: AppendRefusedError): void {
    if (this.#failure) return
    const { code, message } = refusal
    if (code === 'gone') this.#options.onGone()
    this.end(this.#errorOf(code, message))
  }

  /** Makes a gap in the numbers of the appends retriable: the next attempt has no gap. */
  #errorOf(code: string, message: string): Error {
    const problem = `the engine refuses the chunks: ${message} (${code})`
    if (code === 'payload_too_large') return this.#limit(message)
    return code === 'invalid_request' ? this.#refusal(problem) : new Error(this.#about(problem))
  }

  #startDeadline(): NodeJS.Timeout {
    const late = `the engine has stored no chunks for ${ACKNOWLEDGE_MS_MAX / 1000} s`
    return setTimeout(() => this.end(new StreamUnavailableError(this.#about(late))), ACKNOWLEDGE_MS_MAX)
  }

  #unlessEnded<T>(read: Promise<T>): Promise<T> {
    if (this.#failure) return Promise.reject(this.#failure.error)
    return new Promise((resolve, reject) => {
      this.#reads.add(reject)
      read.then(resolve, reject).finally(() => this.#reads.delete(reject))
    })
  }

  #about(problem: string): string {
    return `Step "${this.#options.step}": stream "${this.name}": ${problem}`
  }

  #refusal(problem: string): NonRetriableError {
    return new NonRetriableError(this.#about(problem))
  }

  #limit(problem: string): StreamLimitError {
    return new StreamLimitError(this.#about(problem))
  }
}

function untilNextMoment(): number {
  return GATHER_MS - (Math.floor(performance.now()) % GATHER_MS)
}

/**
 * A failure of the whole stream is also the failure of its step, so it must not become an unhandled rejection if nothing awaits
 * the write.
 */
function silenced(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined)
  return promise
}
