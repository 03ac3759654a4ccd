// Divides a claim of runs among namespaces and destinations (`RunClaim` in the store port): it bounds the share of each, and the
// namespaces take turns. Called by due-runs.ts.

import { appKey } from '../../../domain/model/run.ts'
import { FairPermits } from '../../../domain/pass/permits/fair-permits.ts'
import { RunMemory } from '../../../domain/pass/permits/run-memory.ts'
import type { LeftRun, RunClaim } from '../../../ports/store.ts'

/** A run that a claim may take. */
export interface DueRun {
  key: string | number
  namespace: string
  app: string
  destination: string
  priority: number
  availableAt: number
  /** Position of the newest event of the log when the run began. */
  logPosition: number
}

export class RunShare {
  readonly #permits: FairPermits | undefined
  readonly #appRoom: Map<string, number>
  readonly #full: ReadonlySet<string>
  readonly #memory: RunMemory | undefined
  /** The bytes of the runs that took memory. */
  readonly #taken = new Map<DueRun['key'], number>()
  readonly #left = new Map<DueRun['key'], LeftRun>()
  #isLargeLeft = false
  #skipped = 0

  constructor({ permits, appRoom, full, memory }: RunClaim) {
    this.#permits = permits && new FairPermits(permits.max, permits.taken)
    this.#memory = memory && new RunMemory(memory.max, memory)
    this.#appRoom = new Map(appRoom)
    this.#full = full ?? new Set()
  }

  /** Whether one more run of the destination may be taken. */
  hasRoom({ namespace, app, destination }: Pick<DueRun, 'namespace' | 'app' | 'destination'>): boolean {
    if (this.#full.has(destination) || this.#permits?.hasRoom(namespace, app) === false) return false
    return this.#appRoom.size === 0 || (this.#appRoom.get(appKey({ namespace, app })) ?? 1) > 0
  }

  take(run: DueRun): void {
    this.#count(run, 1)
  }

  /** Returns the room of a run that was held instead. Its memory goes to the runs that were skipped for lack of it. */
  giveBack(run: DueRun): void {
    this.#count(run, -1)
    const bytes = this.#taken.get(run.key)
    if (bytes === undefined) return
    this.#memory?.giveBack(bytes)
    this.#taken.delete(run.key)
    this.#left.clear()
    this.#isLargeLeft = false
  }

  /** Whether the sizes of runs decide which are loaded. */
  get hasMemory(): boolean {
    return this.#memory !== undefined
  }

  /** How often a run was skipped because its state does not fit in memory. */
  get skipped(): number {
    return this.#skipped
  }

  /** Runs that the claim skipped because their state does not fit in memory. */
  get left(): LeftRun[] {
    return [...this.#left.values()]
  }

  hasLeft(key: DueRun['key']): boolean {
    return this.#left.has(key)
  }

  /** Takes memory for the state of a taken run. Without room the run is given back, and not looked at again. */
  takeMemory(run: DueRun, sized: LeftRun): boolean {
    const memory = this.#memory
    if (!memory) return true
    const { bytes } = sized
    const isLarge = bytes > memory.smallMax
    if (memory.hasRoom(bytes) && !(isLarge && this.#isLargeLeft)) {
      memory.take(bytes)
      this.#taken.set(run.key, bytes)
      return true
    }
    this.#skipped++
    this.#isLargeLeft ||= isLarge
    this.#left.set(run.key, sized)
    this.giveBack(run)
    return false
  }

  /** The namespaces in the order of their turns: the one with the fewest runs under way is first. */
  inTurn<Item extends { namespace: string }>(items: readonly Item[]): Item[][] {
    const byNamespace = new Map<string, Item[]>()
    for (const item of items) {
      const some = byNamespace.get(item.namespace)
      if (some) some.push(item)
      else byNamespace.set(item.namespace, [item])
    }
    const taken = (namespace: string) => this.#permits?.takenBy(namespace) ?? 0
    return [...byNamespace].sort(([one], [other]) => taken(one) - taken(other)).map(([, items]) => items)
  }

  /**
   * Takes at most `limit` of the runs: one of each namespace in turn; within a namespace the highest priority first, then the
   * longest due.
   */
  pick(due: readonly DueRun[], limit: number): DueRun[] {
    const waiting = this.inTurn(due).map(runs => runs.sort(byPriority).values())
    const picked: DueRun[] = []
    let open = waiting
    while (open.length > 0 && picked.length < limit) {
      const more: typeof open = []
      for (const runs of open) {
        if (picked.length === limit) break
        const run = this.#nextOf(runs)
        if (!run) continue
        picked.push(run)
        more.push(runs)
      }
      open = more
    }
    return picked
  }

  /** Takes the first run that has room. */
  #nextOf(runs: IterableIterator<DueRun>): DueRun | undefined {
    for (let next = runs.next(); !next.done; next = runs.next()) {
      if (!this.hasRoom(next.value)) continue
      this.take(next.value)
      return next.value
    }
    return undefined
  }

  #count({ namespace, app }: DueRun, count: 1 | -1): void {
    if (count === 1) this.#permits?.take(namespace, app)
    else this.#permits?.giveBack(namespace, app)
    const key = appKey({ namespace, app })
    const room = this.#appRoom.get(key)
    if (room !== undefined) this.#appRoom.set(key, room - count)
  }
}

/**
 * The runs in the order in which they get slots: within each namespace by priority, then by the log. The turns of the namespaces
 * stay the same.
 */
export function inQueueOrder(runs: readonly DueRun[]): DueRun[] {
  const ofNamespace = new Map<string, DueRun[]>()
  for (const run of [...runs].sort(byPlace)) {
    const some = ofNamespace.get(run.namespace)
    if (some) some.push(run)
    else ofNamespace.set(run.namespace, [run])
  }
  const next = new Map([...ofNamespace].map(([namespace, some]) => [namespace, some.values()]))
  return runs.map(({ namespace }) => next.get(namespace)?.next().value as DueRun)
}

function byPriority(one: DueRun, other: DueRun): number {
  return other.priority - one.priority || one.availableAt - other.availableAt || byLog(one, other)
}

/** Compares runs by the order of the queues of held runs. */
function byPlace(one: DueRun, other: DueRun): number {
  return other.priority - one.priority || byLog(one, other)
}

/** Runs that began between two events are ordered by their times, then by their keys. */
function byLog(one: DueRun, other: DueRun): number {
  return one.logPosition - other.logPosition || one.availableAt - other.availableAt || (one.key < other.key ? -1 : 1)
}
