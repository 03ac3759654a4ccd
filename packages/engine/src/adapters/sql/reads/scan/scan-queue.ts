// Scans: reads that may look at many rows or answer large ones (searches, counts, pages with payloads). They run on readers
// of their own, cut into slices. Each slice waits for its turn here: namespaces take turns, and a namespace has one slice
// under way at a time. Owned by the store, used by its reads.

import { EngineError } from '../../../../domain/model/errors.ts'
import type { Query, Row } from '../../description/values.ts'

/** Scans beyond these bounds are refused. */
export const NAMESPACE_SCANS_MAX = 100
export const SCANS_MAX = 1000

/** The rows of each query, all of them seen at one moment. Ends early, if it can, when the signal is aborted. */
export type ScanRows = (queries: Query[], signal: AbortSignal | undefined) => Promise<Row[][]>

interface Scan {
  signal: AbortSignal | undefined
  /** Slices of this scan that have begun. */
  begun: number
  /** Slices of all scans that had begun when this one arrived. */
  begunBefore: number
  /** The next slice, which waits for its turn. */
  next: (() => void) | undefined
}

/** The scans of a namespace, in the order of their arrival. */
interface NamespaceScans {
  scans: Scan[]
  isBusy: boolean
}

export class ScanQueue {
  readonly #read: ScanRows
  readonly #atOnce: number
  /** The namespace that had its turn longest ago is first. */
  readonly #namespaces = new Map<string, NamespaceScans>()
  #count = 0
  #underWay = 0
  /** Slices that have begun since the store was opened. */
  #begun = 0

  /** `atOnce` is how many slices, each of another namespace, `read` carries out side by side. */
  constructor(read: ScanRows, atOnce: number) {
    this.#read = read
    this.#atOnce = atOnce
  }

  /**
   * Carries out a scan, whose every call of `read` is a slice. Rejects with `overloaded` when too many scans wait already, or
   * when the signal is aborted after other scans had more slices than this one; else with the reason of the signal.
   */
  run<T>(
    { namespace, signal }: { namespace: string; signal: AbortSignal | undefined },
    work: (read: (queries: Query[]) => Promise<Row[][]>) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const own = this.#namespaces.get(namespace)
    if (this.#count >= SCANS_MAX || (own && own.scans.length >= NAMESPACE_SCANS_MAX)) return Promise.reject(tooMany())
    const scan: Scan = { signal, begun: 0, begunBefore: this.#begun, next: undefined }
    this.#enter(namespace, scan)
    return new Promise<T>((resolve, reject) => {
      const onAbort = () => {
        this.#leave(namespace, scan)
        reject(this.#refusal(scan))
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      work(queries => this.#slice(namespace, scan, queries))
        .then(resolve, reject)
        .finally(() => {
          signal?.removeEventListener('abort', onAbort)
          this.#leave(namespace, scan)
        })
    })
  }

  async #slice(namespace: string, scan: Scan, queries: Query[]): Promise<Row[][]> {
    scan.signal?.throwIfAborted()
    await new Promise<void>(resolve => {
      scan.next = resolve
      this.#startNext()
    })
    try {
      return await this.#read(queries, scan.signal)
    } finally {
      this.#underWay--
      this.#endTurn(namespace)
      this.#startNext()
    }
  }

  #startNext(): void {
    for (const own of this.#namespaces.values()) {
      if (this.#underWay >= this.#atOnce) return
      const scan = own.isBusy ? undefined : nextScan(own.scans)
      const begin = scan?.next
      if (!scan || !begin) continue
      scan.next = undefined
      scan.begun++
      this.#begun++
      this.#underWay++
      own.isBusy = true
      begin()
    }
  }

  /** The next turn of the namespace comes after those of all others. */
  #endTurn(namespace: string): void {
    const own = this.#namespaces.get(namespace) as NamespaceScans
    own.isBusy = false
    this.#namespaces.delete(namespace)
    if (own.scans.length > 0) this.#namespaces.set(namespace, own)
  }

  #enter(namespace: string, scan: Scan): void {
    const own = this.#namespaces.get(namespace)
    if (own) own.scans.push(scan)
    else this.#namespaces.set(namespace, { scans: [scan], isBusy: false })
    this.#count++
  }

  #leave(namespace: string, scan: Scan): void {
    const own = this.#namespaces.get(namespace)
    const at = own ? own.scans.indexOf(scan) : -1
    if (!own || at < 0) return
    own.scans.splice(at, 1)
    this.#count--
    if (own.scans.length === 0 && !own.isBusy) this.#namespaces.delete(namespace)
    // The next scan of the namespace may have waited for this one.
    this.#startNext()
  }

  #refusal({ signal, begun, begunBefore }: Scan): unknown {
    const ofOthers = this.#begun - begunBefore - begun
    if (begun > 0 && ofOthers <= begun) return signal?.reason
    const message = 'other searches and counts took the time of this one: try again later'
    return new EngineError('overloaded', message, { cause: signal?.reason })
  }
}

/**
 * A scan that has just arrived gets its first slice before the others go on, so that a short one does not wait for a long
 * one. Then the oldest goes on until it ends.
 */
function nextScan(scans: readonly Scan[]): Scan | undefined {
  return scans.find(({ begun, next }) => begun === 0 && next) ?? scans.find(({ begun }) => begun > 0)
}

function tooMany(): EngineError {
  return new EngineError('overloaded', 'too many searches and counts are waiting: try again later')
}
