// Measures the load of each runner in memory: passes under way, passes a minute, how long they take, and failures. Where
// engines share a store, each sends the others its numbers every few seconds (docs/operating.md#runners). The Invoker reports
// passes; the listing of runners reads the sums.

import { cutText } from '@perdure/protocol'
import type { Runner } from '../../domain/model/workflow.ts'
import { runnerKey } from '../../domain/model/workflow.ts'
import { type Bus, broadcastBatches } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { RepeatingTask } from '../support/repeating-task.ts'

/** Maximum runners in memory; beyond this, the runner whose last pass began or ended first is forgotten. */
const RUNNERS_MAX = 10_000
/** Number of newest passes of a runner for the percentile. */
const DURATIONS_MAX = 128
const SHARE_EVERY_MS = 5000
/** The numbers of an engine that sent none for this long no longer count. */
const SHARED_VALID_MS = 15_000
const WINDOW_MS = 60_000
const MESSAGE_CHARS_MAX = 300

/** The numbers of this engine, or the sums over all engines. */
export interface Load {
  inFlight: number
  /** Passes that ended within the last minute, assuming an even rate within each minute. */
  passesPerMin: number
  p95Ms?: number
  /** Passes that failed since the engine started. */
  failures: number
  lastFailure?: { at: number; message: string }
}

interface Measured {
  inFlight: number
  /** When the last pass began or ended, by the monotonic clock. */
  usedAt: number
  isForgotten?: true
  /** The minute that `count` counts, and the count of the previous minute. */
  minute: number
  count: number
  before: number
  durations: number[]
  next: number
  failures: number
  lastFailure?: { at: number; message: string }
}

export interface RunnerLoadDeps {
  clock: Clock
  bus: Bus | undefined
}

export class RunnerLoad extends RepeatingTask {
  readonly #deps: RunnerLoadDeps
  readonly #runners = new Map<string, Measured>()
  /** The same by the catalog's objects: nearly every pass finds its runner here without building its key. */
  readonly #known = new WeakMap<Runner, Measured>()
  /** By engine, then by runner. */
  readonly #shared = new Map<string, Map<string, { load: Load; until: number }>>()

  constructor(deps: RunnerLoadDeps) {
    super({ clock: deps.clock, everyMs: SHARE_EVERY_MS, run: () => this.#share(), onFailure: () => {} })
    this.#deps = deps
    deps.bus?.on('load', (text, from) => this.#receive(text, from))
  }

  /** A pass was sent. */
  began(runner: Runner): void {
    this.#measured(runner).inFlight++
  }

  /** The pass is over; with a message if it failed. */
  ended(runner: Runner, durationMs: number, failure?: string): void {
    const measured = this.#measured(runner)
    measured.inFlight = Math.max(0, measured.inFlight - 1)
    turn(measured, measured.usedAt)
    measured.count++
    measured.durations[measured.next] = durationMs
    measured.next = (measured.next + 1) % DURATIONS_MAX
    if (failure === undefined) return
    measured.failures++
    measured.lastFailure = { at: this.#deps.clock.now(), message: cutText(failure, MESSAGE_CHARS_MAX) }
  }

  /** The number of this engine's passes under way at the runner. */
  underWay(runner: Runner): number {
    return this.#measured(runner).inFlight
  }

  /** The sums over all engines; undefined if no pass was sent to the runner. */
  of(runner: Runner): Load | undefined {
    const key = runnerKey(runner)
    const now = this.#deps.clock.elapsed()
    const own = this.#runners.get(key)
    const loads = own ? [loadOf(own, now)] : []
    for (const shared of this.#shared.values()) {
      const found = shared.get(key)
      if (found && found.until > now) loads.push(found.load)
    }
    return loads.length === 0 ? undefined : loads.reduce(sum)
  }

  #measured(runner: Runner): Measured {
    const known = this.#known.get(runner)
    const measured = known === undefined || known.isForgotten ? this.#byKey(runnerKey(runner)) : known
    if (measured !== known) this.#known.set(runner, measured)
    measured.usedAt = this.#deps.clock.elapsed()
    return measured
  }

  #byKey(key: string): Measured {
    let measured = this.#runners.get(key)
    if (measured) return measured
    if (this.#runners.size >= RUNNERS_MAX) this.#forgetOldest()
    measured = { inFlight: 0, usedAt: 0, minute: 0, count: 0, before: 0, durations: [], next: 0, failures: 0 }
    this.#runners.set(key, measured)
    return measured
  }

  #forgetOldest(): void {
    const [key, oldest] = [...this.#runners].reduce((one, other) => (other[1].usedAt < one[1].usedAt ? other : one))
    oldest.isForgotten = true
    this.#runners.delete(key)
  }

  /** Sends nothing if no pass was sent to any runner. */
  #share(): void {
    const { bus, clock } = this.#deps
    if (!bus || this.#runners.size === 0) return
    const now = clock.elapsed()
    const parts = [...this.#runners].map(([key, measured]) => JSON.stringify([key, loadOf(measured, now)]))
    for (const batch of broadcastBatches(parts)) bus.publish('load', JSON.stringify(batch))
  }

  #receive(text: string, from: string): void {
    const until = this.#deps.clock.elapsed() + SHARED_VALID_MS
    for (const [engine, shared] of this.#shared) {
      for (const [key, entry] of shared) if (entry.until <= until - SHARED_VALID_MS) shared.delete(key)
      if (shared.size === 0) this.#shared.delete(engine)
    }
    const shared = this.#shared.get(from) ?? new Map()
    this.#shared.set(from, shared)
    for (const part of JSON.parse(text) as string[]) {
      const [key, load] = JSON.parse(part) as [string, Load]
      if (shared.has(key) || shared.size < RUNNERS_MAX) shared.set(key, { load, until })
    }
  }
}

/** Begins a new minute when the last one is over. */
function turn(measured: Measured, now: number): void {
  const minute = Math.floor(now / WINDOW_MS)
  if (minute === measured.minute) return
  measured.before = minute === measured.minute + 1 ? measured.count : 0
  measured.count = 0
  measured.minute = minute
}

function loadOf(measured: Measured, now: number): Load {
  turn(measured, now)
  const { inFlight, count, before, durations, failures, lastFailure } = measured
  // The part of the previous minute that lies within the last 60 seconds.
  const share = 1 - (now % WINDOW_MS) / WINDOW_MS
  const sorted = [...durations].sort((a, b) => a - b)
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1]
  return {
    inFlight,
    passesPerMin: Math.round(count + before * share),
    ...(p95 === undefined ? {} : { p95Ms: Math.round(p95) }),
    failures,
    ...(lastFailure === undefined ? {} : { lastFailure }),
  }
}

/** The percentile over several engines is their highest one. */
function sum(a: Load, b: Load): Load {
  const last = [a.lastFailure, b.lastFailure].filter(one => one !== undefined).sort((x, y) => y.at - x.at)[0]
  const p95Ms = Math.max(a.p95Ms ?? 0, b.p95Ms ?? 0)
  return {
    inFlight: a.inFlight + b.inFlight,
    passesPerMin: a.passesPerMin + b.passesPerMin,
    ...(a.p95Ms === undefined && b.p95Ms === undefined ? {} : { p95Ms }),
    failures: a.failures + b.failures,
    ...(last === undefined ? {} : { lastFailure: last }),
  }
}
