// The output streams of one attempt of a step. Created when its callback first asks for one.

import { NonRetriableError } from '@perdure/client'
import { ATTRIBUTE_KEY_CHARS_MAX, cutText, STREAM_NAME_PATTERN, STREAMS_OF_RUN_MAX } from '@perdure/protocol'
import type { OutputStream } from '../run/output-stream.ts'
import { StreamLimitError } from '../wire/stream-errors.ts'
import { StepStream, type StepStreamOptions } from './step-stream.ts'

const NAME = new RegExp(STREAM_NAME_PATTERN)

interface StepStreamsOptions extends Omit<StepStreamOptions, 'name'> {
  /** The signal of the attempt: the streams end when it aborts. */
  signal: AbortSignal
}

export class StepStreams {
  readonly #options: StepStreamsOptions
  readonly #streams = new Map<string, StepStream>()
  readonly #abort: () => void
  #end: { error: unknown } | undefined

  constructor(options: StepStreamsOptions) {
    const { signal } = options
    this.#options = options
    this.#abort = () => this.end(signal.reason)
    if (signal.aborted) this.#abort()
    else signal.addEventListener('abort', this.#abort, { once: true })
  }

  /** Whether readers may have received chunks of the attempt. */
  get areSent(): boolean {
    return this.#options.outlet !== undefined
  }

  /** Returns the stream of this name. @throws NonRetriableError for a bad name, and StreamLimitError for too many. */
  of(name: string): OutputStream {
    const known = this.#streams.get(name)
    if (known) return known
    const { step, ...options } = this.#options
    if (typeof name !== 'string' || !NAME.test(name)) {
      const shown = typeof name === 'string' ? JSON.stringify(cutText(name, ATTRIBUTE_KEY_CHARS_MAX, '…')) : typeof name
      const form = `1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, "_", "." or "-"`
      throw new NonRetriableError(`Step "${step}": stream: the name ${shown} must be ${form}`)
    }
    if (this.#streams.size === STREAMS_OF_RUN_MAX)
      throw new StreamLimitError(`Step "${step}": stream "${name}": a run has at most ${STREAMS_OF_RUN_MAX} streams`)
    const stream = new StepStream({ ...options, step, name })
    if (this.#end) stream.end(this.#end.error)
    this.#streams.set(name, stream)
    return stream
  }

  /** Resolves when all chunks are durable. */
  async flush(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(stream => stream.flush()))
  }

  /** Ends all streams of the attempt. */
  end(error: unknown): void {
    this.#end ??= { error }
    this.#options.signal.removeEventListener('abort', this.#abort)
    for (const stream of this.#streams.values()) stream.end(error)
  }
}
