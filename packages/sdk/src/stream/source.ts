// Reads the source of `pipe`. Not every runtime can iterate a `ReadableStream`, so this uses its reader.

import type { StreamSource } from '../run/output-stream.ts'

interface SourceReader<Chunk> {
  next(): Promise<IteratorResult<Chunk>>
  /** Ends the source, because nobody wants its other chunks. Never throws. */
  cancel(reason: unknown): void
}

/** Returns undefined for a value that is not a source. */
export function readerOf<Chunk>(source: StreamSource<Chunk>): SourceReader<Chunk> | undefined {
  if (typeof source !== 'object' || source === null) return undefined
  if ('getReader' in source) {
    const reader = source.getReader()
    return {
      next: () => reader.read() as Promise<IteratorResult<Chunk>>,
      cancel: reason => void reader.cancel(reason).catch(() => undefined),
    }
  }
  const iterator = iteratorOf(source)
  if (!iterator) return undefined
  return {
    next: async () => iterator.next(),
    cancel: () => void (async () => iterator.return?.())().catch(() => undefined),
  }
}

function iteratorOf<Chunk>(source: AsyncIterable<Chunk> | Iterable<Chunk>) {
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]()
  return Symbol.iterator in source ? source[Symbol.iterator]() : undefined
}
