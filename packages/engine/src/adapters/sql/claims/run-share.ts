// Divides a claim of runs among namespaces and destinations (`RunClaim` in the store port): it bounds what each may take, and
// among namespaces the claim takes turns. Called by due-runs.ts.

import { appKey } from '../../../domain/model/run.ts'
import { Places } from '../../../domain/pass/places.ts'
import type { RunClaim } from '../../../ports/store.ts'

/** A run that a claim may take. */
export interface DueRun {
  key: string | number
  namespace: string
  app: string
  destination: string
  priority: number
  availableAt: number
}

export class RunShare {
  readonly #places: Places | undefined
  readonly #appRoom: Map<string, number>
  readonly #full: ReadonlySet<string>

  constructor({ places, appRoom, full }: RunClaim) {
    this.#places = places && new Places(places.max, places.taken)
    this.#appRoom = new Map(appRoom)
    this.#full = full ?? new Set()
  }

  /** Whether one more run of the destination may be taken. */
  hasRoom({ namespace, app, destination }: Pick<DueRun, 'namespace' | 'app' | 'destination'>): boolean {
    if (this.#full.has(destination) || this.#places?.hasRoom(namespace, app) === false) return false
    return this.#appRoom.size === 0 || (this.#appRoom.get(appKey({ namespace, app })) ?? 1) > 0
  }

  take(run: DueRun): void {
    this.#count(run, 1)
  }

  /** The run was held instead. */
  giveBack(run: DueRun): void {
    this.#count(run, -1)
  }

  /** The namespaces in the order of their turns: the one with the fewest runs under way is first. */
  inTurn<Item extends { namespace: string }>(items: readonly Item[]): Item[][] {
    const byNamespace = new Map<string, Item[]>()
    for (const item of items) {
      const some = byNamespace.get(item.namespace)
      if (some) some.push(item)
      else byNamespace.set(item.namespace, [item])
    }
    const taken = (namespace: string) => this.#places?.takenBy(namespace) ?? 0
    return [...byNamespace].sort(([one], [other]) => taken(one) - taken(other)).map(([, items]) => items)
  }

  /**
   * Takes at most `limit` of the runs: one of each namespace in turn, and of each namespace the one of the highest priority,
   * then the longest due.
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

  /** Takes the first one that has room. */
  #nextOf(runs: IterableIterator<DueRun>): DueRun | undefined {
    for (let next = runs.next(); !next.done; next = runs.next()) {
      if (!this.hasRoom(next.value)) continue
      this.take(next.value)
      return next.value
    }
    return undefined
  }

  #count({ namespace, app }: DueRun, count: 1 | -1): void {
    if (count === 1) this.#places?.take(namespace, app)
    else this.#places?.giveBack(namespace, app)
    const key = appKey({ namespace, app })
    const room = this.#appRoom.get(key)
    if (room !== undefined) this.#appRoom.set(key, room - count)
  }
}

/** Runs that are due at the same millisecond are taken in the order of their creation, which their keys have. */
function byPriority(one: DueRun, other: DueRun): number {
  return other.priority - one.priority || one.availableAt - other.availableAt || (one.key < other.key ? -1 : 1)
}
