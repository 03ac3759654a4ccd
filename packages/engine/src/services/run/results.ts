// Waits for the ends of runs, for callers that want a result in one request (docs/events.md#wait-for-the-result). A run that
// ends on this engine wakes its waiters with the content of the commit, without a read. Ends on other engines of the same store
// are found by joint reads. Called by the routes of results and events.

import { TERMINAL_STATUSES } from '@perdure/protocol'
import { TransientMap } from '../../base/transient-map.ts'
import { isTerminal } from '../../domain/model/run.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../ports/store.ts'
import type { Reads, RunView } from '../../ports/store-reads.ts'
import { type Live, type RunEnd, runKey } from '../live/live.ts'

/** How often the runs of waiters are read where another engine may end them. */
const READ_EVERY_MS = 200
/** Runs in one such read. */
const READ_MAX = 200
/** How often a read searches again for the newest run of a chain whose runs end faster than they are read. */
const REREAD_MAX = 10

export interface RunResultsDeps {
  store: Pick<Store, 'in'>
  live: Pick<Live, 'ends'>
  clock: Pick<Clock, 'after'>
  /** Maximum callers that wait at this engine; a further caller does not wait. */
  waitersMax: number
  /** Whether other engines use the store. */
  isShared: boolean
  /** Whether the run is under way at this engine, so that its end is published here. */
  isDriven(runId: string): boolean
}

export interface WaitOptions {
  /** How long to wait; 0: not at all. */
  ms: number
  /** Ends the wait early: the caller is gone, or the engine shuts down. */
  signal: AbortSignal
}

interface Waiter {
  namespace: string
  runId: string
  end(run: RunEnd | undefined): void
  /** Waits for another run of the chain instead. */
  follow(runId: string): void
}

interface Wait {
  ended: Promise<RunEnd | undefined>
  /** Ends the wait; calling it again changes nothing. */
  stop(): void
  /** Waits for another run of the chain instead. */
  follow(runId: string): void
}

export class RunResults {
  readonly #deps: RunResultsDeps
  readonly #waiters = new TransientMap<number, Waiter>()
  #count = 0
  #cancelRead = (): void => {}

  constructor(deps: RunResultsDeps) {
    this.#deps = deps
  }

  /**
   * Returns the run when it has ended, or in its present state when the time is up; undefined if there is none. A run that
   * continued is followed to the newest run of its chain. Does not wait when too many callers already do.
   */
  async read(namespace: string, runId: string, options: WaitOptions): Promise<RunEnd | undefined> {
    const reads = this.#deps.store.in(namespace)
    // Begins to wait before the read: an end between both would be missed otherwise.
    const wait = this.#wait(namespace, runId, options)
    try {
      let now: RunView | undefined = await reads.run(runId)
      for (let reread = 0; now?.continuedAs !== undefined; reread++) {
        const newest = await reads.newestOfChain(now.chainId ?? now.id)
        if (!newest || !wait || isTerminal(newest.status) || reread === REREAD_MAX) return newest
        wait.follow(newest.id)
        now = await reads.run(newest.id)
      }
      if (!wait || !now || isTerminal(now.status)) return now
      return (await wait.ended) ?? (await newestOf(reads, runId))
    } finally {
      wait?.stop()
    }
  }

  /**
   * The end of a run that was created a moment ago; undefined if it does not end in time, or when too many callers wait. Must
   * be called before anything else happens to the run: before the event loop turns.
   */
  async ofNew(namespace: string, runId: string, options: WaitOptions): Promise<RunEnd | undefined> {
    return this.#wait(namespace, runId, options)?.ended
  }

  #wait(namespace: string, runId: string, { ms, signal }: WaitOptions): Wait | undefined {
    if (ms === 0 || signal.aborted || this.#waiters.size >= this.#deps.waitersMax) return undefined
    const { live, clock, isShared } = this.#deps
    const no = ++this.#count
    let isOver = false
    let stop = (): void => {}
    let follow = (_: string): void => {}
    const ended = new Promise<RunEnd | undefined>(resolve => {
      const end = (run: RunEnd | undefined): void => {
        stopListening()
        if (run?.continuedAs !== undefined) {
          follow(run.continuedAs)
          return
        }
        isOver = true
        this.#waiters.delete(no)
        if (this.#waiters.size === 0) this.#cancelRead()
        cancelTimer()
        signal.removeEventListener('abort', stop)
        resolve(run)
      }
      stop = () => end(undefined)
      let stopListening = (): void => {}
      follow = id => {
        if (isOver) return
        stopListening()
        stopListening = live.ends.on(runKey(namespace, id), end)
        this.#waiters.set(no, { namespace, runId: id, end, follow })
      }
      follow(runId)
      const cancelTimer = clock.after(ms, stop)
      signal.addEventListener('abort', stop)
      if (isShared && this.#waiters.size === 1) this.#readSoon()
    })
    return { ended, stop, follow: id => follow(id) }
  }

  #readSoon(): void {
    this.#cancelRead = this.#deps.clock.after(READ_EVERY_MS, () => void this.#readElsewhere())
  }

  /** Reads whether other engines have ended runs of waiters. */
  async #readElsewhere(): Promise<void> {
    const byNamespace = new Map<string, Waiter[]>()
    for (const waiter of this.#waiters.values()) {
      if (this.#deps.isDriven(waiter.runId)) continue
      const others = byNamespace.get(waiter.namespace)
      if (others) others.push(waiter)
      else byNamespace.set(waiter.namespace, [waiter])
    }
    for (const [namespace, waiters] of byNamespace) {
      const reads = this.#deps.store.in(namespace)
      // A failed read does no harm, because the next one covers it.
      for (let from = 0; from < waiters.length; from += READ_MAX)
        await endWaiters(reads, waiters.slice(from, from + READ_MAX)).catch(() => {})
    }
    if (this.#waiters.size > 0) this.#readSoon()
  }
}

/** The run, or the newest run of its chain. */
async function newestOf(reads: Pick<Reads, 'run' | 'newestOfChain'>, runId: string): Promise<RunEnd | undefined> {
  const run = await reads.run(runId)
  return run?.continuedAs === undefined ? run : reads.newestOfChain(run.chainId ?? run.id)
}

/** Wakes the waiters whose runs have ended. The others follow their chains. */
async function endWaiters(
  reads: Pick<Reads, 'runs' | 'run' | 'newestOfChain'>,
  waiters: readonly Waiter[],
): Promise<void> {
  const ids = [...new Set(waiters.map(({ runId }) => runId))]
  const ended = await reads.runs({ ids, status: TERMINAL_STATUSES, limit: READ_MAX })
  for (const { id } of ended) {
    const run = await newestOf(reads, id)
    for (const waiter of waiters) {
      if (waiter.runId !== id) continue
      if (run && !isTerminal(run.status)) waiter.follow(run.id)
      else waiter.end(run)
    }
  }
}
