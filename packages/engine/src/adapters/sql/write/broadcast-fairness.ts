// Fairness for broadcasts. An event that thousands wait for is decided on all of their waits, and each wait that begins
// or ends meanwhile makes it decide again: where waits come and go all the time it would never be done. So once it has
// lost twice, units that touch waits for that event let it go first. Only within this process, and only for a while:
// correctness rests on guards alone.

import type { Change, Unit } from '../../../domain/model/change.ts'

/** Broadcasts to fewer waits win by themselves. */
const CROWD = 100
const LOSSES = 2
/** Longest that others wait for one that does not come back. */
const PATIENCE_MS = 1000

interface Crowd {
  losses: number
  /** Set while others give way. */
  past?: Promise<void>
  goOn(): void
}

export class Crowds {
  /** By event name, whatever the namespace. */
  readonly #crowds = new Map<string, Crowd>()

  /** Whether a broadcast has lost lately: most of the time there is none, and nothing to wait for. */
  get any(): boolean {
    return this.#crowds.size > 0
  }

  /** Resolves when no broadcast has to go before the unit. */
  async giveWay(unit: Unit): Promise<void> {
    const own = this.#broadcast(unit)
    for (const name of new Set(unit.changes.flatMap(awaitedName))) {
      if (name !== own) await this.#crowds.get(name)?.past
    }
  }

  /** What became of the unit: durable, or stale for its waiters. */
  settled(unit: Unit, outcome: 'done' | 'lost'): void {
    const name = this.#broadcast(unit)
    if (name === undefined) return
    const crowd = this.#crowds.get(name) ?? { losses: 0, goOn: () => {} }
    if (outcome === 'done') {
      this.#crowds.delete(name)
      crowd.goOn()
      return
    }
    this.#crowds.set(name, crowd)
    if (++crowd.losses >= LOSSES && !crowd.past) this.#favour(name, crowd)
  }

  #favour(name: string, crowd: Crowd): void {
    crowd.past = new Promise(resolve => {
      const timer = setTimeout(() => {
        if (this.#crowds.get(name) === crowd) this.#crowds.delete(name)
        resolve()
      }, PATIENCE_MS)
      timer.unref()
      crowd.goOn = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** The event name of a unit that is a broadcast to many. */
  #broadcast({ guards }: Unit): string | undefined {
    for (const guard of guards) {
      if (guard.type === 'waiters' && guard.waiters.length >= CROWD) return guard.eventName
    }
    return undefined
  }
}

/** The event whose waits the change adds to or takes from. */
function awaitedName(change: Change): string | [] {
  if (change.type !== 'step.recorded' && change.type !== 'step.moved') return []
  const { op, eventName } = change.step
  return op === 'WaitForEvent' && eventName !== undefined ? eventName : []
}
