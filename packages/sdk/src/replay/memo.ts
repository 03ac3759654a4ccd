// The results the engine sent with an invoke, and the order in which a pass hands them to the handler.
//
// Settling order is what makes replay exact. When two steps are both stored, `Promise.race` must see the one
// first that was first the last time, and parallel branches that share step names must reach them in the same
// order as before. So stored results are handed over one at a time, in the order of the memo's keys (the engine
// appends a key when its step settles), and each waits until the handler has done all it can with the one
// before: until the microtask queue is empty.

import type { InvokeRequest, MemoEntry } from '@perdure/protocol'
import { StepFailedError } from '../errors.ts'

type Waiting = {
  readonly order: number
  readonly name: string
  readonly entry: MemoEntry
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

/** The memo of one pass (contract §2.11, `steps`). */
export class Memo {
  readonly #entries: InvokeRequest['steps']
  /** A binary heap by `order`: a fan-out may ask for thousands at once. */
  readonly #waiting: Waiting[] = []
  #orders: Map<string, number> | undefined
  #scheduled = false
  #closed = false

  constructor(entries: InvokeRequest['steps']) {
    this.#entries = entries
  }

  find(hashedId: string): MemoEntry | undefined {
    return this.#entries[hashedId]
  }

  /** A promise of a settled entry's data or error. */
  settle(hashedId: string, name: string): Promise<unknown> {
    const entry = this.#entries[hashedId] as MemoEntry
    const promise = new Promise((resolve, reject) => {
      push(this.#waiting, { order: this.#orderOf(hashedId), name, entry, resolve, reject })
    })
    // A handler may look at this promise only after another step: until then a stored error is no accident.
    if (entry.error) promise.catch(() => undefined)
    this.#schedule()
    return promise
  }

  /** Nothing is handed over any more. */
  close(): void {
    this.#closed = true
  }

  /** Ticks run when the microtask queue is empty, but only those queued from a microtask: hence both. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => process.nextTick(this.#handOver))
  }

  readonly #handOver = (): void => {
    this.#scheduled = false
    const next = this.#closed ? undefined : pop(this.#waiting)
    if (!next) return
    if (next.entry.error) next.reject(new StepFailedError(next.name, next.entry.error))
    else next.resolve(next.entry.data)
    if (this.#waiting.length > 0) this.#schedule()
  }

  #orderOf(hashedId: string): number {
    this.#orders ??= new Map(Object.keys(this.#entries).map((key, index) => [key, index]))
    return this.#orders.get(hashedId) as number
  }
}

function push(heap: Waiting[], item: Waiting): void {
  let at = heap.push(item) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] as Waiting
    if (above.order <= item.order) break
    heap[at] = above
    at = parent
  }
  heap[at] = item
}

function pop(heap: Waiting[]): Waiting | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && (heap[child + 1] as Waiting).order < (heap[child] as Waiting).order)
      child++
    if ((heap[child] as Waiting).order >= last.order) break
    heap[at] = heap[child] as Waiting
    at = child
  }
  heap[at] = last
  return first
}
