// Scans: reads that may look at many rows or return large ones (searches, counts, pages with payloads). They run on their own
// readers, cut into slices. Each slice waits for its turn here: namespaces take turns, and a namespace has one slice under way at
// a time. Owned by the store, used by its reads.

import { FairQueue } from '../../../../base/fair-queue.ts'
import { EngineError } from '../../../../domain/model/errors.ts'
import type { Query, Row } from '../../description/values.ts'

/** Scans beyond these bounds are refused. */
export const NAMESPACE_SCANS_MAX = 100
export const SCANS_MAX = 1000

/** The rows of each query, all seen at one moment. Ends early, if it can, when the signal is aborted. */
export type ScanRows = (queries: Query[], signal: AbortSignal | undefined) => Promise<Row[][]>

interface Scan {
  namespace: string
  signal: AbortSignal | undefined
  /** Slices of this scan that have begun. */
  begun: number
  /** Slices of all scans that had begun when this one arrived. */
  begunBefore: number
  /** The next slice, which waits for its turn. */
  next: (() => void) | undefined
}

export class ScanQueue {
  readonly #read: ScanRows
  readonly #atOnce: number
  /** Each scan until it ends. */
  readonly #scans = new FairQueue<Scan>()
  /** Namespaces with a slice under way. */
  readonly #busy = new Set<string>()
  /** Slices that have begun since the store was opened. */
  #begun = 0

  /** `atOnce` is how many slices, each of another namespace, `read` carries out at the same time. */
  constructor(read: ScanRows, atOnce: number) {
    this.#read = read
    this.#atOnce = atOnce
  }

  /**
   * Carries out a scan; each of its calls of `read` is a slice. Rejects with `overloaded` if too many scans already wait, or if
   * the signal is aborted after other scans had more slices than this one; otherwise with the signal's reason.
   */
  run<T>(
    { namespace, signal }: { namespace: string; signal: AbortSignal | undefined },
    work: (read: (queries: Query[]) => Promise<Row[][]>) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const isFull = this.#scans.count >= SCANS_MAX || this.#scans.of(namespace).length >= NAMESPACE_SCANS_MAX
    if (isFull) return Promise.reject(tooMany())
    const scan: Scan = { namespace, signal, begun: 0, begunBefore: this.#begun, next: undefined }
    this.#scans.push(namespace, scan)
    return new Promise<T>((resolve, reject) => {
      const onAbort = () => {
        this.#leave(scan)
        reject(this.#refusal(scan))
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      work(queries => this.#slice(scan, queries))
        .then(resolve, reject)
        .finally(() => {
          signal?.removeEventListener('abort', onAbort)
          this.#leave(scan)
        })
    })
  }

  async #slice(scan: Scan, queries: Query[]): Promise<Row[][]> {
    scan.signal?.throwIfAborted()
    await new Promise<void>(resolve => {
      scan.next = resolve
      this.#startNext()
    })
    try {
      return await this.#read(queries, scan.signal)
    } finally {
      this.#busy.delete(scan.namespace)
      this.#scans.endTurn(scan.namespace)
      this.#startNext()
    }
  }

  #startNext(): void {
    while (this.#busy.size < this.#atOnce) {
      const scan = this.#scans.find((scans, namespace) => (this.#busy.has(namespace) ? undefined : nextScan(scans)))
      if (!scan) return
      const begin = scan.next
      scan.next = undefined
      scan.begun++
      this.#begun++
      this.#busy.add(scan.namespace)
      begin?.()
    }
  }

  #leave(scan: Scan): void {
    // The next scan of the namespace may have waited for this one.
    if (this.#scans.remove(scan.namespace, scan)) this.#startNext()
  }

  #refusal({ signal, begun, begunBefore }: Scan): unknown {
    const ofOthers = this.#begun - begunBefore - begun
    if (begun > 0 && ofOthers <= begun) return signal?.reason
    const message = 'the search or count did not finish in time because others were running: try again later'
    return new EngineError('overloaded', message, { cause: signal?.reason })
  }
}

/**
 * The scan whose slice is next, if it waits for one. A new scan gets its first slice before the others continue, so that a short
 * scan does not wait for a long one. After that, the oldest scan continues until it ends.
 */
function nextScan(scans: readonly Scan[]): Scan | undefined {
  const arrived = scans.find(({ begun, next }) => begun === 0 && next)
  const oldest = scans.find(({ begun }) => begun > 0)
  return arrived ?? (oldest?.next && oldest)
}

function tooMany(): EngineError {
  return new EngineError('overloaded', 'too many searches and counts are waiting: try again later')
}
