// Who gets the room on a runner that takes only so many invokes at once (Connect's `maxConcurrency`): a seat at once, or
// a place in the line of the app. Runs in it are leased and wait in memory; nothing of them was sent.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import { connectUrlOwner } from '../../domain/model/connect-url.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import type { Route } from '../../domain/pass/routing.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InvokeSignal } from '../../ports/transport.ts'

/** What nobody tells of (a runner over HTTP that registered, a runner that is avoided no more) is seen so soon. */
const LOOK_EVERY_MS = 1000

/** What a seat is left to another engine for: a word there, and an invoke back. */
const LEND_MS = 100

/** The right to send one invoke to a runner, until it is released: right after it was sent. */
export interface Reservation {
  runner: Runner
  release(): void
}

/** `none`: no runner can be reached. `left`: taken out of the line before there was a seat. */
export type Reserved = Reservation | 'none' | 'left'

export interface RunnerQueueDeps {
  clock: Clock
  route(run: Run, tried: ReadonlySet<Runner>): Route
  /** How many invokes the runner would take at once; undefined when it has no bound. */
  room(url: string): number | undefined
  reaches(url: string): boolean
  /** Told when a run waits for room on the runner, again and again. */
  wants?(url: string): void
}

interface QueuedRun {
  run: Run
  tried: ReadonlySet<Runner>
  end(seated: Reserved): void
}

export class RunnerQueue {
  readonly #deps: RunnerQueueDeps
  /** By app, best first. */
  readonly #apps = new Map<string, QueuedRun[]>()
  readonly #waiters = new Map<string, QueuedRun>()
  /** Given and not released, by URL. */
  readonly #seats = new Map<string, number>()
  #stopLooking: (() => void) | undefined

  constructor(deps: RunnerQueueDeps) {
    this.#deps = deps
  }

  /** Whether the runner would take one more, the seats that were given counted. */
  hasRoom(url: string): boolean {
    const room = this.#deps.room(url)
    return room === undefined || room > (this.#seats.get(url) ?? 0)
  }

  has(runId: string): boolean {
    return this.#waiters.has(runId)
  }

  /** A seat for the run, if there is one now. Those who wait could not take it: they are asked at every change. */
  take(run: Run, tried: ReadonlySet<Runner>): Reservation | 'none' | 'full' {
    const chosen = this.#deps.route(run, tried)
    if (chosen.kind !== 'runner') return 'none'
    const { runner } = chosen
    if (this.hasRoom(runner.url)) return this.#seat(runner)
    this.#deps.wants?.(runner.url)
    return 'full'
  }

  /** Resolves when the run's turn comes; at its deadline, at an abort and when it is recalled it leaves. */
  wait(run: Run, tried: ReadonlySet<Runner>, signal: InvokeSignal): Promise<Reserved> {
    return new Promise(resolve => {
      const deadline = runDeadline(run)
      const leave = () => waiter.end('left')
      const stop = deadline === undefined ? () => {} : this.#deps.clock.at(deadline, leave)
      const waiter: QueuedRun = {
        run,
        tried,
        end: seated => {
          stop()
          signal.removeEventListener('abort', leave)
          this.#remove(waiter)
          resolve(seated)
        },
      }
      signal.addEventListener('abort', leave)
      this.#add(waiter)
      // Since it was told that there is no room, some may have come.
      if (signal.aborted) leave()
      else this.#ask(waiter)
    })
  }

  /** The runner may have room, or is gone: those who wait for it are asked, best first. */
  look(url: string): void {
    const owner = connectUrlOwner(url)
    const waiters = owner && this.#apps.get(keyOf(owner))
    if (!waiters) return
    const isOver = () => this.#deps.reaches(url) && !this.hasRoom(url)
    if (isOver()) return
    for (const waiter of [...waiters]) {
      this.#ask(waiter)
      if (isOver()) return
    }
  }

  /** It is to be sent to nobody any more, if it was not sent. */
  recall(runId: string): void {
    this.#waiters.get(runId)?.end('left')
  }

  recallAll(): void {
    for (const waiter of [...this.#waiters.values()]) waiter.end('left')
  }

  #ask(waiter: QueuedRun): void {
    const taken = this.take(waiter.run, waiter.tried)
    if (taken !== 'full') waiter.end(taken)
  }

  /** Leaves one seat to another engine, which has a moment to take it. */
  lend(url: string): void {
    const { clock } = this.#deps
    clock.at(clock.now() + LEND_MS, this.#reserve(url))
  }

  #seat(runner: Runner): Reservation {
    const isBounded = this.#deps.room(runner.url) !== undefined
    return { runner, release: isBounded ? this.#reserve(runner.url) : NOTHING }
  }

  /** Answers what gives it back. */
  #reserve(url: string): () => void {
    this.#seats.set(url, (this.#seats.get(url) ?? 0) + 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const left = (this.#seats.get(url) as number) - 1
      if (left > 0) this.#seats.set(url, left)
      else this.#seats.delete(url)
      // It may have been given up, and not been used.
      this.look(url)
    }
  }

  #add(waiter: QueuedRun): void {
    const key = keyOf(waiter.run)
    const waiters = this.#apps.get(key) ?? []
    let at = waiters.length
    while (at > 0 && isBefore(waiter.run, (waiters[at - 1] as QueuedRun).run)) at--
    waiters.splice(at, 0, waiter)
    this.#apps.set(key, waiters)
    this.#waiters.set(waiter.run.id, waiter)
    this.#stopLooking ??= this.#lookLater()
  }

  #remove(waiter: QueuedRun): void {
    const key = keyOf(waiter.run)
    const waiters = this.#apps.get(key) ?? []
    const at = waiters.indexOf(waiter)
    if (at >= 0) waiters.splice(at, 1)
    if (waiters.length === 0) this.#apps.delete(key)
    if (this.#waiters.get(waiter.run.id) === waiter) this.#waiters.delete(waiter.run.id)
    if (this.#waiters.size > 0) return
    this.#stopLooking?.()
    this.#stopLooking = undefined
  }

  #lookLater(): () => void {
    const { clock } = this.#deps
    return clock.at(clock.now() + LOOK_EVERY_MS, () => {
      this.#stopLooking = undefined
      for (const waiters of [...this.#apps.values()]) for (const waiter of [...waiters]) this.#ask(waiter)
      if (this.#waiters.size > 0) this.#stopLooking ??= this.#lookLater()
    })
  }
}

const NOTHING = () => {}

function keyOf({ namespace, app }: { namespace: string; app: string }): string {
  return `${namespace}\n${app}`
}

/** The order of claims: the higher priority, then the older. */
function isBefore(a: Run, b: Run): boolean {
  const [mine, other] = [a.priority ?? 0, b.priority ?? 0]
  return mine === other ? a.id < b.id : mine > other
}
