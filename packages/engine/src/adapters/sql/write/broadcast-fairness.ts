// Fairness for broadcasts: events that hundreds of steps wait for. Such an event is decided on the set of its waits, and every
// wait that begins or ends makes the decision stale. If waits come and go all the time, the event could lose for ever. Once it
// has lost twice, units that touch waits for the event are delayed until the event is committed. This works within one process
// and for a bounded time; correctness rests on guards alone.

import type { Change, Unit } from '../../../domain/model/change.ts'

/** A broadcast to fewer waits wins without help. */
const WAITS_MIN = 100
/** Lost commits after which other units wait for a broadcast. */
const LOSSES_MAX = 2
/** Longest time that other units wait for a broadcast that is not tried again. */
const DELAY_MS_MAX = 1000

/** A broadcast that lost. */
interface Broadcast {
  losses: number
  /** Resolves when other units no longer need to wait; present while they wait. */
  over?: Promise<void>
  end(): void
}

export class BroadcastFairness {
  /** By event name, for all namespaces together. */
  readonly #broadcasts = new Map<string, Broadcast>()

  /** Whether a broadcast has lost lately. Usually none has, and no unit needs to wait. */
  get isActive(): boolean {
    return this.#broadcasts.size > 0
  }

  /** Resolves when no broadcast must be committed before the unit. */
  async waitForBroadcasts(unit: Unit): Promise<void> {
    const own = broadcastName(unit)
    for (const name of new Set(unit.changes.flatMap(waitedName))) {
      if (name !== own) await this.#broadcasts.get(name)?.over
    }
  }

  /** Call it when the unit has become durable. */
  committed(unit: Unit): void {
    if (!this.isActive) return
    const name = broadcastName(unit)
    if (name === undefined) return
    this.#broadcasts.get(name)?.end()
    this.#broadcasts.delete(name)
  }

  /** Call it when the unit was stale because the set of waits had changed. */
  lost(unit: Unit): void {
    const name = broadcastName(unit)
    if (name === undefined) return
    const broadcast = this.#broadcasts.get(name) ?? { losses: 0, end: () => {} }
    this.#broadcasts.set(name, broadcast)
    if (++broadcast.losses >= LOSSES_MAX && !broadcast.over) this.#favour(name, broadcast)
  }

  #favour(name: string, broadcast: Broadcast): void {
    broadcast.over = new Promise(resolve => {
      const timer = setTimeout(() => {
        if (this.#broadcasts.get(name) === broadcast) this.#broadcasts.delete(name)
        resolve()
      }, DELAY_MS_MAX)
      timer.unref()
      broadcast.end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** The event name of a unit that is a broadcast to many waits. */
function broadcastName({ guards }: Unit): string | undefined {
  for (const guard of guards) {
    if (guard.type === 'waiters' && guard.waiters.length >= WAITS_MIN) return guard.eventName
  }
  return undefined
}

/** The name of the event for which the change begins or ends a wait. */
function waitedName(change: Change): string | [] {
  if (change.type !== 'step.recorded' && change.type !== 'step.moved') return []
  const { op, eventName } = change.step
  return eventName === undefined || op === 'Emit' ? [] : eventName
}
