// The type of the output streams of a step.

/** The chunks for `pipe`. */
export type StreamSource<Chunk> = AsyncIterable<Chunk> | Iterable<Chunk> | ReadableStream<Chunk>

/**
 * An output stream of a run, written by one attempt of a step. Readers get a chunk when the engine has stored it. If the attempt
 * fails or is lost, its chunks are withdrawn.
 */
export interface OutputStream {
  readonly name: string
  /**
   * Writes a chunk: any JSON of up to 64 KiB, with its value at the time of the call. Resolves when the buffer of 1 MiB has space
   * for more. Rejects with a `StreamLimitError` beyond a bound, and with a `StreamUnavailableError` if no engine has accepted
   * chunks for 30 seconds.
   */
  write(chunk: unknown): Promise<void>
  /** Resolves when all chunks written so far are stored. The SDK flushes all streams of a step before it reports its result. */
  flush(): Promise<void>
  /**
   * Writes all chunks of the source, and resolves with them. Reads no faster than the engine stores. After an error it cancels
   * the source.
   */
  pipe<Chunk>(source: StreamSource<Chunk>): Promise<Chunk[]>
  /** Returns all chunks that are strings and that this attempt has written, joined into one text. */
  text(): string
}
