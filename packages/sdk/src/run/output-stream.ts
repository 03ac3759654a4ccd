// The type of the output streams of a step.

/** The chunks for `pipe`. */
export type StreamSource<Chunk> = AsyncIterable<Chunk> | Iterable<Chunk> | ReadableStream<Chunk>

/**
 * An output stream of a run, as one attempt of a step writes it. Readers get a chunk when the engine has stored it. If the attempt
 * fails or is lost, its chunks are withdrawn.
 */
export interface OutputStream {
  readonly name: string
  /**
   * Writes a chunk: any JSON of up to 64 KiB, as it is at the call. Resolves when the buffer of 1 MiB has room for more.
   * Rejects with a `StreamLimitError` beyond a bound, and with a `StreamUnavailableError` if no engine has taken chunks for 30 seconds.
   */
  write(chunk: unknown): Promise<void>
  /** Resolves when all chunks that were written so far are stored. The SDK flushes all streams of a step before it reports its result. */
  flush(): Promise<void>
  /** Writes all chunks of the source, and resolves with them. It reads no faster than the engine stores. After an error it cancels the source. */
  pipe<Chunk>(source: StreamSource<Chunk>): Promise<Chunk[]>
  /** Returns the chunks that are strings, in one text, as far as this attempt has written them. */
  text(): string
}
