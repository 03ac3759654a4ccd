// Merges the rows of output streams whose steps have settled: rows of a few chunks become rows of many, which cost less to
// store and read. A lost merge costs only space.

import type { Logger } from 'pino'
import type { Store } from '../../../ports/store.ts'
import type { RowSize } from '../../../ports/stream-reads.ts'

/** Maximum bytes and rows of one merged row. */
const MERGED_BYTES_MAX = 64 * 1024
const MERGED_ROWS_MAX = 1000
/** Rows whose sizes are read at once. */
const PAGE_ROWS = 2000
/** Maximum settled parts that wait; further ones stay unmerged. */
const WAITING_MAX = 10_000

interface Part {
  runId: string
  name: string
  first: number
}

export class StreamMerges {
  readonly #store: Pick<Store, 'commit' | 'streams'>
  readonly #log: Pick<Logger, 'warn'>
  readonly #waiting: Part[] = []
  #isBusy = false
  #isStopped = false

  constructor({ store, log }: { store: Pick<Store, 'commit' | 'streams'>; log: Pick<Logger, 'warn'> }) {
    this.#store = store
    this.#log = log
  }

  /** Queues the stored chunks of the stream from the number `first` for a merge. */
  add(runId: string, name: string, first: number): void {
    if (!this.#isStopped && this.#waiting.length < WAITING_MAX) this.#waiting.push({ runId, name, first })
    if (!this.#isBusy) void this.#mergeAll()
  }

  /** Stops merging. */
  stop(): void {
    this.#isStopped = true
    this.#waiting.length = 0
  }

  async #mergeAll(): Promise<void> {
    this.#isBusy = true
    for (let part = this.#waiting.shift(); part; part = this.#waiting.shift()) {
      try {
        await this.#merge(part)
      } catch (err) {
        if (!this.#isStopped) this.#log.warn({ err, runId: part.runId }, 'rows of an output stream could not be merged')
      }
    }
    this.#isBusy = false
  }

  async #merge({ runId, name, first }: Part): Promise<void> {
    for (let from = first; ; ) {
      const rows = await this.#store.streams.sizes(runId, name, from, PAGE_ROWS)
      const changes = mergedRanges(rows).map(range => ({ type: 'stream.merged' as const, runId, name, ...range }))
      if (changes.length > 0) await this.#store.commit({ guards: [], changes })
      const last = rows.at(-1)
      if (!last || rows.length < PAGE_ROWS) return
      from = last.n + last.count
    }
  }
}

/** Ranges of at least two rows that are consecutive chunks of one attempt. */
function mergedRanges(rows: readonly RowSize[]): { n: number; end: number }[] {
  const ranges: { n: number; end: number; rows: number; bytes: number; last: RowSize }[] = []
  for (const row of rows) {
    const { n, count, step, attempt, bytes } = row
    const range = ranges.at(-1)
    const continues = range && range.end === n && range.last.step === step && range.last.attempt === attempt
    if (continues && range.bytes + bytes <= MERGED_BYTES_MAX && range.rows < MERGED_ROWS_MAX) {
      range.end = n + count
      range.rows++
      range.bytes += bytes
      range.last = row
    } else ranges.push({ n, end: n + count, rows: 1, bytes, last: row })
  }
  return ranges.filter(({ rows }) => rows > 1).map(({ n, end }) => ({ n, end }))
}
