// The load: a closed loop that keeps a fixed number of calls under way. Workloads differ in what a call is: a run until its
// runner has answered, a run until its result is stored, an event, a search.

import { setTimeout as pause } from 'node:timers/promises'
import { CpuMeter, type CpuUse } from '../measure/cpu-meter.ts'
import { nowUs } from '../measure/profile.ts'
import type { Rig } from '../rig/rig.ts'

const PROBLEMS_MAX = 5
const STALLED_MS = 60_000

export interface Window {
  runs: number
  runsPerS: number
  seconds: number
  /** The time of each call that ended in the window. */
  latenciesMs: number[]
  fromUs: number
  toUs: number
}

export class Loop {
  /** The time of each call so far. */
  readonly latenciesMs: number[] = []
  readonly problems: string[] = []
  #isStopping = false
  #underWay: number
  readonly #whenEmpty: Promise<unknown>

  /** `one` makes a call and resolves with its time in ms. A lane whose call fails ends, and the failure is a problem. */
  constructor(inFlight: number, one: () => Promise<number>, callsMax = Number.POSITIVE_INFINITY) {
    let left = callsMax
    const lane = async () => {
      try {
        while (!this.#isStopping && left-- > 0) this.latenciesMs.push(await one())
      } catch (error) {
        if (this.problems.length < PROBLEMS_MAX) this.problems.push((error as Error).message)
      }
      this.#underWay--
    }
    this.#underWay = inFlight
    this.#whenEmpty = Promise.all(Array.from({ length: inFlight }, lane))
  }

  get done(): number {
    return this.latenciesMs.length
  }

  /** Lets the loop continue for this long. */
  measure(seconds: number): Promise<Window> {
    return this.#window(this.done, () => pause(seconds * 1000))
  }

  /** Lets the loop continue until this many calls have ended in total. Throws if none ends for a minute. */
  measureUntil(calls: number): Promise<Window> {
    return this.#window(this.done, async () => {
      for (let [last, since] = [this.done, performance.now()]; this.done < calls; await pause(5)) {
        if (this.done > last) [last, since] = [this.done, performance.now()]
        else if (performance.now() - since > STALLED_MS || this.#underWay === 0)
          throw new Error(`the load stands still at ${last} calls ${this.problems}`)
      }
    })
  }

  /** Measures from the start until the loop is empty: for a loop with `callsMax`. */
  measureAll(timeoutMs: number): Promise<Window> {
    return this.#window(0, () => this.#empty(timeoutMs))
  }

  /** Waits until this many calls have ended, or for this long, whichever is first. */
  async warmUp(calls: number, secondsMax: number): Promise<void> {
    const endAt = performance.now() + secondsMax * 1000
    do await pause(200)
    while (this.done < calls && performance.now() < endAt)
  }

  /** Starts no more calls and waits for the calls under way. A call that does not end is a problem. */
  stop(timeoutMs = 30_000): Promise<void> {
    this.#isStopping = true
    return this.#empty(timeoutMs)
  }

  async #window(first: number, wait: () => Promise<unknown>): Promise<Window> {
    const fromUs = nowUs()
    await wait()
    const toUs = nowUs()
    const latenciesMs = this.latenciesMs.slice(first)
    const [runs, seconds] = [latenciesMs.length, (toUs - fromUs) / 1e6]
    return { runs, seconds, runsPerS: runs / seconds, latenciesMs, fromUs, toUs }
  }

  async #empty(timeoutMs: number): Promise<void> {
    const timer = new AbortController()
    const late = pause(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})
    await Promise.race([this.#whenEmpty, late])
    timer.abort()
    if (this.#underWay > 0)
      this.problems.push(`${this.#underWay} runs did not come to their end within ${timeoutMs} ms`)
  }
}

/** Measures a window of a loop on the rig: its calls, and the CPU that the rig's processes used during it. */
export async function measured(rig: Rig, window: () => Promise<Window>): Promise<Window & { cpu: CpuUse }> {
  const meter = new CpuMeter(rig.pids)
  const result = await window()
  const cpu = meter.read()
  rig.profileSpan(result)
  return { ...result, cpu }
}
